import { globSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { packageRoot } from '../../src/lib/package-root.ts'

/** A page of the documentation: README.md or a file below docs. */
export type Page = { path: string; text: string }

export type Block = {
  language: string
  text: string
  /** The line of the fence, from 1. */
  line: number
  /** The HTML comment right above the fence, without its marks. */
  remark: string | undefined
}

const GENERATED = 'docs/reference/'

/** README.md and the pages of docs in the order of their names. */
export function readPages(): Page[] {
  const root = packageRoot()
  const paths = ['README.md', ...globSync('docs/**/*.md', { cwd: root }).toSorted()]
  return paths.map((path) => ({ path, text: readFileSync(join(root, path), 'utf8') }))
}

export function isGenerated({ path }: Page): boolean {
  return path.startsWith(GENERATED)
}

/** One page; its path counts from the root of the repository. */
export function readPage(path: string): Page {
  return { path, text: readFileSync(join(packageRoot(), path), 'utf8') }
}

/** The fenced blocks of a page. */
export function blocksOf({ text }: Page): Block[] {
  const lines = text.split('\n')
  const blocks: Block[] = []
  let open: { language: string; at: number } | undefined
  for (const [at, line] of lines.entries()) {
    if (!line.startsWith('```')) continue
    if (open === undefined) {
      open = { language: line.slice(3).trim(), at }
      continue
    }
    const before = lines[open.at - 1]?.trim() === '' ? lines[open.at - 2] : lines[open.at - 1]
    blocks.push({
      language: open.language,
      text: lines.slice(open.at + 1, at).join('\n'),
      line: open.at + 1,
      remark: /^<!-- (?<remark>.*) -->$/.exec(before ?? '')?.groups?.['remark'],
    })
    open = undefined
  }
  return blocks
}

/** Whether a browser runs a block: test/widget/documented.test.ts does. */
export function isForBrowser({ remark }: Block): boolean {
  return remark === 'run in a browser'
}

/** The text without its fenced blocks and comments, with as many lines. */
export function proseOf({ text }: Page): string[] {
  let isCode = false
  return text.split('\n').map((line) => {
    const isFence = line.startsWith('```')
    if (isFence) isCode = !isCode
    return isFence || isCode || line.startsWith('<!--') ? '' : line
  })
}

/** The headings of a page with the anchors that a hosting site gives them. */
export function anchorsOf(page: Page): Set<string> {
  const counts = new Map<string, number>()
  return new Set(
    proseOf(page).flatMap((line) => {
      const title = /^#{1,6} (?<title>.+)$/.exec(line)?.groups?.['title']
      if (title === undefined) return []
      const slug = title
        .replaceAll(/\[([^\]]*)\]\([^)]*\)/g, '$1')
        .toLowerCase()
        .replaceAll(/[^\p{L}\p{N}\s_-]/gu, '')
        .replaceAll(' ', '-')
      const count = counts.get(slug) ?? 0
      counts.set(slug, count + 1)
      return [count === 0 ? slug : `${slug}-${count}`]
    }),
  )
}

/** The text below a heading, up to the next one of its level or above. */
export function chapterOf({ text }: Page, heading: string): string {
  const [, after = ''] = text.split(`\n${heading}\n`)
  const level = heading.split(' ')[0]?.length ?? 1
  return after.split(new RegExp(`\\n#{1,${level}} `))[0] ?? ''
}

/** The rows of the first table after a text, without its head. */
export function tableAfter({ text }: Page, start: string): string[] {
  const at = text.indexOf(start)
  if (at === -1) throw new Error(`there is no "${start}"`)
  const lines = text.slice(at).split('\n')
  const first = lines.findIndex((line) => line.startsWith('| --'))
  const rest = lines.slice(first + 1)
  const end = rest.findIndex((line) => !line.startsWith('|'))
  return rest.slice(0, end === -1 ? undefined : end)
}

/** The texts that are code in a column, counted from 1. */
export function codesOf(rows: readonly string[], column = 1): string[] {
  return rows.flatMap((row) => {
    const cell = row.split(/(?<!\\)\|/)[column] ?? ''
    return Array.from(cell.matchAll(/`([^`]+)`/g), ([, text = '']) => text)
  })
}
