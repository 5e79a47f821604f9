import { readFileSync, readdirSync } from 'node:fs'
import { join, relative, sep } from 'node:path'
import { packageRoot } from '../../../src/lib/package-root.ts'
import { CliError } from '../../base/errors.ts'
import { nearestWord } from '../../base/nearest-word.ts'
import { localCommand } from '../../kit/command.ts'
import type { PlainContext } from '../../kit/plain-context.ts'
import { searchSections } from './docs-search.ts'
import type { DocPage, DocSection } from './docs-search.ts'

/** Where a page stands in the list: general pages, then those of each reader, the reference, and the histories. */
const FOLDERS = ['docs', join('docs', 'merchants'), join('docs', 'operators'), join('docs', 'reference')]

export function readPages(): DocPage[] {
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

export const docs = localCommand({
  command: 'docs',
  summary: 'Read and search the documentation',
  examples: ['svc docs', 'svc docs webhooks', 'svc docs rotate secret', 'svc docs how do I upgrade'],
  flags: {
    topic: {
      value: 'topic',
      summary: 'Page name, or words that a page has (the list of pages)',
      positional: true,
      several: true,
    },
  },
  async run({ print }, input) {
    const pages = readPages()
    const wanted = input.topic.join(' ').trim()
    if (wanted === '') return list(print, pages)
    const page = pageNamed(pages, wanted)
    if (page === undefined) return listSections(print, pages, wanted)
    if (print.isMachine) print.record(page, [], { id: page.topic })
    else print.text(`${page.text.trimEnd()}\n`)
  },
})

function list(print: PlainContext['print'], items: readonly DocPage[]): undefined {
  print.list(
    items.map(({ topic, title, path }) => ({ topic, title, path })),
    {
      fields: ['topic', 'title', 'path'],
      columns: [
        { title: 'topic', value: (row) => row.topic },
        { title: 'title', value: (row) => row.title, dropped: 1 },
        { title: 'file', value: (row) => row.path, dropped: 2 },
      ],
    },
  )
}

function pageNamed(pages: readonly DocPage[], wanted: string): DocPage | undefined {
  const name = wanted.toLowerCase().replace(/\.md$/, '').replace(/^.*\//, '')
  return pages.find(({ topic }) => topic === name)
}

/** The sections that answer best, the best first. */
function listSections(print: PlainContext['print'], pages: readonly DocPage[], wanted: string): undefined {
  const items = searchSections(pages, wanted)
  if (items.length === 0) throw notFound(pages, wanted)
  print.list<Pick<DocSection, 'topic' | 'heading' | 'title' | 'path'>>(
    items.map(({ topic, heading, title, path }) => ({ topic, heading, title, path })),
    {
      fields: ['topic', 'heading', 'title', 'path'],
      columns: [
        { title: 'topic', value: (row) => row.topic },
        { title: 'section', value: (row) => row.heading },
        { title: 'file', value: (row) => row.path, dropped: 2 },
      ],
    },
  )
}

function notFound(pages: readonly DocPage[], wanted: string): CliError {
  const near = nearestWord(
    wanted,
    pages.map(({ topic }) => topic),
  )
  return new CliError('NO_SUCH_TOPIC', `no page has the words "${wanted}"`, {
    hint: near === undefined ? 'svc docs' : `svc docs ${near}`,
  })
}
