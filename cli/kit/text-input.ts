import { mkdtemp, readFile, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import { wrappedLines } from '../base/wrap.ts'
import type { Context } from './context.ts'
import { canEdit, editText } from '../base/editor.ts'
import { CliError, usageError, messageOf } from '../base/errors.ts'
import type { Io } from '../base/io.ts'
import { printable } from '../base/text.ts'

/** Where a user's own text comes from: the command line, a file, or an editor. */
type TextSource = {
  file: string | undefined
  edit: boolean
  /** What the command line gave, and the flag it gave it by. */
  given: string | undefined
  flag: string
  /** What the text is about, shown above it in the editor. */
  about(): Promise<readonly string[]>
}

// The service takes 20,000 characters at most: this is more than any of them can need.
const FILE_BYTES_MAX = 256 * 1024

/**
 * The words of one source, or undefined where none is named.
 * @throws {CliError} exit code 2 when more than one is named, it has no words, or it can't be read
 */
export async function readWords(io: Io, wanted: TextSource): Promise<string | undefined> {
  const { given, flag, file, edit } = wanted
  const named = [given !== undefined, file !== undefined, edit].filter(Boolean).length
  if (named > 1) throw usageError(`${flag}, --file and --edit say the same thing: give one of them`)
  if (given !== undefined) return spoken(given, flag)
  if (file !== undefined) return spoken(await readText(io, file), '--file')
  return edit ? compose(io, wanted) : undefined
}

/** The words of one source; where none is named, those that a person writes in an editor. */
export async function needWords(io: Io, wanted: TextSource): Promise<string> {
  const words = await readWords(io, wanted)
  if (words !== undefined) return words
  const instead = `${wanted.flag} <words>, or --file <path> (- is standard input)`
  if (!canEdit(io)) throw usageError('what do you want to say? No words were given', instead)
  return compose(io, wanted)
}

function spoken(text: string, flag: string): string {
  if (text.trim() === '') throw usageError(`${flag}: there are no words in it`)
  return text.trim()
}

async function readText(io: Io, file: string): Promise<string> {
  try {
    if (file === '-' && io.stdin.isTTY) io.stderr.write('Reading from standard input; end it with Ctrl+D.\n')
    const bytes = file === '-' ? await io.stdin.read(FILE_BYTES_MAX) : await readFile(resolve(io.cwd, file))
    return new TextDecoder('utf-8', { fatal: true }).decode(bytes)
  } catch (cause) {
    const why = messageOf(cause)
    throw new CliError('USAGE', `--file: can't read ${file} as text (${why})`, { cause })
  }
}

// As wide as the usual terminal, with the mark before each line.
const COLUMNS = 78
const CUT = 'Write above. These lines are not sent; without a word above them, nothing is.'

/** Lines of the template alone are taken out again: a line of one's own may begin with any character. */
async function compose(io: Io, { about, flag }: TextSource): Promise<string> {
  const facts = [CUT, '', ...(await about())].flatMap((line) => wrappedLines(printable(line, 'lines'), COLUMNS))
  const lines = facts.map((line) => `# ${line}`.trimEnd())
  const edited = await editText(io, {
    initial: `\n\n${lines.join('\n')}\n`,
    suffix: '.txt',
    instead: `${flag} <words>, or --file <path>`,
  })
  const words = withoutLines(edited ?? '', lines)
  if (words !== '') return words
  throw new CliError('NOT_CONFIRMED', 'no words were written, so nothing was sent')
}

function withoutLines(text: string, lines: readonly string[]): string {
  const template = new Set(lines)
  const kept = text.split(/\r?\n/).filter((line) => !template.has(line.trimEnd()))
  return kept.join('\n').trim()
}

/** Sends words; where that fails and they were written in an editor, they are kept in a file that only the user reads. */
export async function sendWords<T>(
  { note }: Pick<Context, 'note'>,
  { words, isWritten }: { words: string | undefined; isWritten: boolean },
  send: () => Promise<T>,
): Promise<T> {
  try {
    return await send()
  } catch (error) {
    if (words === undefined || !isWritten) throw error
    const file = join(await mkdtemp(join(tmpdir(), 'svc-kept-')), 'words.txt')
    await writeFile(file, `${words}\n`, { mode: 0o600, flag: 'wx' })
    note(`What you wrote is kept; to send it again: --file ${file}`)
    throw error
  }
}
