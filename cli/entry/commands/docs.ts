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

const EXAMPLES = `
Examples:
  svc docs
  svc docs webhooks
  svc docs rotate secret
`

export function addDocs(command: Command, runtime: Runtime): void {
  command
    .argument('[topic...]', 'Page name, or words that a page has (the list of pages)')
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
}

function list(print: Context['print'], items: readonly DocPage[]): undefined {
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

/** A page by its name; else all that have these words in their title, else in their text. */
function find(pages: readonly DocPage[], wanted: string): readonly DocPage[] {
  const name = wanted.toLowerCase().replace(/\.md$/, '').replace(/^.*\//, '')
  const page = pages.find(({ topic }) => topic === name)
  if (page !== undefined) return [page]
  const words = wanted.toLowerCase().split(/\s+/)
  const having = (textOf: (page: DocPage) => string): DocPage[] =>
    pages.filter((each) => words.every((word) => textOf(each).toLowerCase().includes(word)))
  const titled = having(({ title }) => title)
  return titled.length > 0 ? titled : having(({ text }) => text)
}

function notFound(pages: readonly DocPage[], wanted: string): CliError {
  const near = nearestWord(
    wanted,
    pages.map(({ topic }) => topic),
  )
  return new CliError('NO_SUCH_TOPIC', `no page has the words "${wanted}"`, {
    exit: EXIT.notFound,
    hint: near === undefined ? 'svc docs' : `svc docs ${near}`,
  })
}
