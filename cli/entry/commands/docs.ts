import { readFileSync, readdirSync } from 'node:fs'
import { join, relative, sep } from 'node:path'
import type { Command } from 'commander'
import { z } from 'zod'
import { packageRoot } from '../../../src/lib/package-root.ts'
import { CliError } from '../../base/errors.ts'
import { EXIT } from '../../base/exit-codes.ts'
import { nearestWord } from '../../base/nearest-word.ts'
import { action } from '../../kit/context.ts'
import type { CommandInput, CommandResult, Context, Runtime } from '../../kit/context.ts'

/** A page of the documentation: README, a file below docs, CHANGELOG or DECISIONS. */
type DocPage = {
  /** The name that `svc docs` takes: the file's own, without its folder. */
  topic: string
  title: string
  /** The file, from the root of the package. */
  path: string
  text: string
}

/** A heading below the title of a page, with its text up to the next heading of its level. */
type DocSection = {
  /** `page#anchor`, as links to it are written. */
  topic: string
  title: string
  path: string
  text: string
}

/** Where a page stands in the list: general pages, then those of each reader, the reference, and the histories. */
const FOLDERS = ['docs', join('docs', 'merchants'), join('docs', 'operators'), join('docs', 'reference')]

function readPages(): DocPage[] {
  const root = packageRoot()
  const files = FOLDERS.flatMap((folder) =>
    readdirSync(join(root, folder))
      .filter((name) => name.endsWith('.md'))
      .toSorted()
      .map((name) => join(root, folder, name)),
  )
  const histories = ['CHANGELOG.md', 'DECISIONS.md'].map((name) => join(root, name))
  return [join(root, 'README.md'), ...files, ...histories].map((file) => {
    const text = readFileSync(file, 'utf8')
    const path = relative(root, file).split(sep).join('/')
    const topic = path.replace(/^.*\//, '').replace(/\.md$/, '').toLowerCase()
    return { topic, title: /^# (?<title>.+)$/m.exec(text)?.groups?.['title'] ?? topic, path, text }
  })
}

/** The sections of a page; a "#" within a block of code begins none. */
function sectionsOf({ topic, path, text }: DocPage): DocSection[] {
  const lines = text.split('\n')
  const heads: { at: number; level: number; title: string }[] = []
  let isCode = false
  for (const [at, line] of lines.entries()) {
    if (line.startsWith('```')) isCode = !isCode
    const { marks, title } = (isCode ? null : /^(?<marks>#{2,3}) (?<title>.+)$/.exec(line))?.groups ?? {}
    if (marks !== undefined && title !== undefined) heads.push({ at, level: marks.length, title })
  }
  return heads.map(({ at, level, title }, index) => {
    const end = heads.slice(index + 1).find((head) => head.level <= level)?.at
    return {
      topic: `${topic}#${slugOf(title)}`,
      title: title.replaceAll('`', ''),
      path,
      text: lines.slice(at, end).join('\n'),
    }
  })
}

/** A title as the anchor of a link. */
function slugOf(title: string): string {
  return title
    .toLowerCase()
    .replaceAll(/[^\p{L}\p{N}\s_-]/gu, '')
    .replaceAll(/\s/g, '-')
}

const EXAMPLES = `
Examples:
  svc docs
  svc docs webhooks
  svc docs rotate secret
  svc docs webhooks#how-do-i-verify-a-signature
`

export function addDocs(command: Command, runtime: Runtime): void {
  command
    .argument('[topic...]', 'Page name, or words of a title or heading (the list of pages)')
    .addHelpText('after', EXAMPLES)
    .action(action(runtime, z.object({}), docs))
}

async function docs({ print }: Context, { args }: CommandInput<object>): Promise<CommandResult> {
  const pages = readPages()
  const wanted = args.join(' ').trim()
  if (wanted === '') return list(print, pages)
  const found = find(pages, wanted)
  const [only] = found
  if (only === undefined) throw notFound(pages, wanted)
  if (found.length > 1) return list(print, found)
  if (print.isMachine) print.record({ item: only, id: only.topic, lines: [] })
  else print.text(`${only.text.trimEnd()}\n`)
  return undefined
}

function list(print: Context['print'], items: readonly (DocPage | DocSection)[]): undefined {
  print.list({
    items: items.map(({ topic, title, path }) => ({ topic, title, path })),
    fields: ['topic', 'title', 'path'],
    columns: [
      { title: 'topic', value: (row) => row.topic },
      { title: 'title', value: (row) => row.title, dropped: 1 },
      { title: 'file', value: (row) => row.path, dropped: 2 },
    ],
    id: (row) => row.topic,
    empty: '',
  })
}

/**
 * A page by its name; a section by its own; else all pages and sections with these words in their title, whole words
 * before parts of words.
 */
function find(pages: readonly DocPage[], wanted: string): readonly (DocPage | DocSection)[] {
  const name = wanted.toLowerCase().replace(/\.md$/, '').replace(/^.*\//, '')
  const page = pages.find(({ topic }) => topic === name)
  if (page !== undefined) return [page]
  const all = [...pages, ...pages.flatMap((each) => sectionsOf(each))]
  const named = all.filter(({ topic }) => topic === name || topic.endsWith(`#${slugOf(wanted)}`))
  if (named.length > 0) return named
  const words = wordsOf(wanted)
  const whole = all.filter(({ title }) => words.every((word) => wordsOf(title).includes(word)))
  if (whole.length > 0 || words.length === 0) return whole
  return all.filter(({ title }) => words.every((word) => title.toLowerCase().includes(word)))
}

function wordsOf(text: string): string[] {
  return text.toLowerCase().match(/[\p{L}\p{N}]+/gu) ?? []
}

function notFound(pages: readonly DocPage[], wanted: string): CliError {
  const topics = pages.map(({ topic }) => topic)
  const words = pages.flatMap((page) => sectionsOf(page).flatMap(({ title }) => wordsOf(title)))
  const near = nearestWord(wanted, topics) ?? nearestWord(wanted, words)
  return new CliError('NO_SUCH_TOPIC', `no page or heading matches "${wanted}"`, {
    exit: EXIT.notFound,
    hint: near === undefined ? 'svc docs' : `svc docs ${near}`,
  })
}
