import type { Command } from 'commander'
import { z } from 'zod'
import { action } from '../../kit/context.ts'
import type { CommandInput, CommandResult, Context, Runtime } from '../../kit/context.ts'
import { CliError } from '../../base/errors.ts'
import { EXIT } from '../../base/exit-codes.ts'
import { nearestWord } from '../../base/nearest-word.ts'
import { readPages, sectionsOf, slugOf } from './docs-pages.ts'
import type { DocPage, DocSection } from './docs-pages.ts'

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

/** The pages that `svc docs` takes by name. */
export function docTopics(): { topic: string; title: string }[] {
  return readPages().map(({ topic, title }) => ({ topic, title }))
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
