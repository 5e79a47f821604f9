import { NOUN_GROUPS } from '../../base/command-names.ts'
import { paintFor } from '../../base/io.ts'
import type { Io } from '../../base/io.ts'
import { wrapped, wrappedCommand } from '../../base/wrap.ts'
import { partsOf } from './command-data.ts'
import { GLOBAL_OPTIONS } from './global-options.ts'

const EXAMPLES = `Examples:
  svc up
  svc payments create --amount 50.00 --currency GBP --approve

More: svc <command> --help, svc help all, svc help topics
`

/** What `svc --help` prints: the commands of every day, in their groups. `svc help all` has the others. */
export function firstPage(io: Io): string {
  const paint = paintFor(io, 'stdout', 'auto')
  const width = Math.max(...NOUN_GROUPS.flatMap(({ nouns }) => nouns.map(({ name }) => name.length)))
  const groups = NOUN_GROUPS.map(({ title, nouns }) => {
    const lines = nouns.map(({ name, summary }) => `  ${name.padEnd(width)}  ${summary}\n`)
    return `${paint('bold', `${title}:`)}\n${lines.join('')}`
  })
  const examples = EXAMPLES.replace(/^.*/, (title) => paint('bold', title))
  const usage = `${paint('bold', 'Usage:')} svc <command> [options]\n`
  return [usage, 'Open Banking and account-to-account payments\n', ...groups, examples].join('\n')
}

export function globalOptions(): { option: string; meaning: string }[] {
  return GLOBAL_OPTIONS.map(({ flags, summary, choices }) => ({
    option: flags,
    meaning: choices === undefined ? summary : `${summary} (choices: ${choices.join(', ')})`,
  }))
}

/** Below the help of each command: which global options there are. */
export function globalLine({ stdout }: Io): string {
  const names = GLOBAL_OPTIONS.map((option) => partsOf(option).long)
  const width = stdout.columns > 0 ? stdout.columns : 80
  return `\n${wrapped(`Global options (svc help global): ${names.join(', ')}`, width).join('\n')}`
}

export function termLines(rows: readonly (readonly [term: string, meaning: string])[], width: number): string[] {
  const indent = Math.max(...rows.map(([term]) => term.length)) + 2
  return rows.flatMap(([term, meaning]) => {
    const [first = '', ...rest] = wrapped(meaning, width - indent)
    return [`${term.padEnd(indent)}${first}`, ...rest.map((line) => ' '.repeat(indent) + line)]
  })
}

/** Help as a terminal takes it: what is longer than its lines is broken between words, and commands so that they run. */
export function fitHelp(text: string, width: number): string {
  return text
    .split('\n')
    .flatMap((line) => fitLine(line, width))
    .join('\n')
}

function fitLine(line: string, width: number): string[] {
  if (line.length <= width) return [line]
  const [indent = ''] = /^ */.exec(line) ?? []
  const words = line.slice(indent.length)
  return (indent !== '' && words.startsWith('svc ') ? wrappedCommand : wrapped)(words, width, indent)
}
