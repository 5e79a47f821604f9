import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import type { Command } from 'commander'
import { z } from 'zod'
import { packageRoot } from '../../src/lib/package-root.ts'
import { action } from '../context.ts'
import type { CommandInput, CommandResult, Context, Runtime } from '../context.ts'
import { CliError } from '../errors.ts'
import { EXIT } from '../exit-codes.ts'

export function addDocs(command: Command, runtime: Runtime): void {
  command
    .argument('[topic...]', 'a chapter, by its name or words of its title; without one, which there are')
    .addHelpText(
      'after',
      '\nExamples:\n  svc docs\n  svc docs verify-a-webhook\n  svc docs time travel\n  svc docs changelog\n',
    )
    .action(action(runtime, z.object({}), docs))
}

type Chapter = { topic: string; title: string; book: string; text: string }

const BOOKS = ['README', 'CHANGELOG', 'DECISIONS'] as const

async function docs({ print }: Context, { args }: CommandInput<object>): Promise<CommandResult> {
  const chapters = BOOKS.flatMap((book) => chaptersOf(book))
  const wanted = args.join(' ').trim()
  if (wanted === '') {
    print.list({
      items: chapters.map(({ topic, title, book }) => ({ topic, title, book })),
      fields: ['topic', 'title', 'book'],
      columns: [
        { title: 'topic', value: (row) => row.topic },
        { title: 'title', value: (row) => row.title, dropped: 1 },
        { title: 'of', value: (row) => row.book, dropped: 2 },
      ],
      id: (row) => row.topic,
      empty: '',
    })
    return undefined
  }
  const chapter = find(chapters, wanted)
  if (print.isMachine) print.record({ item: chapter, id: chapter.topic, lines: [] })
  else print.text(`${chapter.text.trimEnd()}\n`)
  return undefined
}

/** What svc docs can be asked for: the books, and the chapters of them. */
export function chapterTopics(): { topic: string; title: string }[] {
  const books = BOOKS.map((book) => ({ topic: book.toLowerCase(), title: book }))
  return [...books, ...BOOKS.flatMap((book) => chaptersOf(book).map(({ topic, title }) => ({ topic, title })))]
}

/** A whole book by its name; a chapter by its own, else the only one, or the first, with all these words in its title. */
function find(chapters: readonly Chapter[], wanted: string): Chapter {
  const book = BOOKS.find((each) => each.toLowerCase() === wanted.toLowerCase().replace(/\.md$/, ''))
  if (book !== undefined) return { topic: book.toLowerCase(), title: book, book, text: readBook(book) }
  const words = topicOf(wanted).split('-')
  const found =
    chapters.find(({ topic }) => topic === topicOf(wanted)) ??
    chapters.find(({ topic }) => words.every((word) => topic.split('-').includes(word))) ??
    chapters.find(({ topic }) => words.every((word) => topic.includes(word)))
  if (found !== undefined) return found
  throw new CliError('NO_SUCH_TOPIC', `no chapter is about "${wanted}"`, { exit: EXIT.notFound, hint: 'svc docs' })
}

function readBook(book: string): string {
  return readFileSync(join(packageRoot(), `${book}.md`), 'utf8')
}

/** Chapters and their sections; a "#" within a block of code begins none. */
function chaptersOf(book: (typeof BOOKS)[number]): Chapter[] {
  const lines = readBook(book).split('\n')
  const heads: { at: number; level: number; title: string }[] = []
  let isCode = false
  for (const [at, line] of lines.entries()) {
    if (line.startsWith('```')) isCode = !isCode
    const { marks, title } = (isCode ? null : /^(?<marks>#{2,3}) (?<title>.+)$/.exec(line))?.groups ?? {}
    if (marks !== undefined && title !== undefined) heads.push({ at, level: marks.length, title })
  }
  return heads.map(({ at, level, title }, index) => {
    const end = heads.slice(index + 1).find((head) => head.level <= level)?.at
    return { topic: topicOf(title), title: title.replaceAll('`', ''), book, text: lines.slice(at, end).join('\n') }
  })
}

function topicOf(title: string): string {
  return title
    .toLowerCase()
    .replaceAll(/['’`]/g, '')
    .replaceAll(/[^a-z0-9]+/g, '-')
    .replaceAll(/^-|-$/g, '')
}
