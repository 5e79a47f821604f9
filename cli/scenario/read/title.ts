import { Lexer, isNode } from 'yaml'
import type { Opened } from './document.ts'
import { locate } from './source.ts'
import type { Path } from './source.ts'

const TITLE_MAX = 76

/** What a step is called: the line of its verb as the file has it, without what else stands in that line. */
export function titleOf({ document, source }: Opened, path: Path): string {
  const { line, column } = locate(source, document, path, 'key')
  const end = endOf({ document, source }, path)
  const rest = (source.lines[line - 1] ?? '').slice(column - 1, end?.line === line ? end.col - 1 : undefined)
  const text = withoutComment(rest.trim()).trim()
  return text.length > TITLE_MAX ? `${text.slice(0, TITLE_MAX)}…` : text
}

/** Where what follows the verb ends; undefined where that is not to be seen, as with an alias. */
function endOf(
  { document, source }: Pick<Opened, 'document' | 'source'>,
  path: Path,
): { line: number; col: number } | undefined {
  const node: unknown = document.getIn(path, true)
  return isNode(node) && node.range != null ? source.counter.linePos(node.range[1]) : undefined
}

/** The lexer's own marks, which stand for no character of the text. */
const LEXER_MARKS = new Set(['\u0002', '\u0018', '\u001f'])

/** A # begins a comment only where YAML says so, which is not inside of quotes. */
function withoutComment(line: string): string {
  let length = 0
  for (const token of new Lexer().lex(line)) {
    if (token.startsWith('#')) return line.slice(0, length)
    if (!LEXER_MARKS.has(token)) length += token.length
  }
  return line
}
