import type { Io } from '../../base/io.ts'
import { candidatesFor } from './candidates.ts'
import type { Candidate } from './candidates.ts'

/** What a shell may put into a command line as it is, and does not take for one of our own signs: no other name is offered. */
const SAFE = /^(?!:)[\w@%+=:,./-]+$/

/**
 * Answers a shell that asks what could stand next: a line for each candidate, with what it means behind a tab, and
 * `:files` or `:dirs` where the shell's own are meant. It asks no question and prints nothing else: a failure has no
 * candidates.
 * @param asked the shell, then the words up to the cursor; the last is the one that is being typed
 */
export async function complete([shell = '', ...typed]: readonly string[], io: Io): Promise<void> {
  try {
    const { words, cut } = joinedBy(shell, typed)
    const word = words.at(-1) ?? ''
    const { candidates, more } = await candidatesFor(words, io)
    const found = candidates.filter(({ value }) => value !== '' && SAFE.test(value) && value.startsWith(word))
    const lines = [...found.map((each) => lineOf(each, cut)), ...(more === undefined ? [] : [`:${more}`])]
    io.stdout.write(lines.map((line) => `${line}\n`).join(''))
  } catch {
    // The command line is not finished: there is no error to report.
  }
}

/** Bash replaces only what stands behind the last of its word breaks. */
function lineOf({ value, meaning }: Candidate, cut: string): string {
  const rest = value.slice(cut.length)
  const text = meaning.replaceAll(/[\p{Cc}\p{Zl}\p{Zp}\p{Bidi_Control}]/gu, ' ')
  return text === '' ? rest : `${rest}\t${text}`
}

/**
 * The words that a shell gives, as the command line has them, and what of the last one the shell takes for another word.
 * Bash breaks words at "=" and ":"; PowerShell loses an empty one, which its name says then.
 */
function joinedBy(shell: string, typed: readonly string[]): { words: string[]; cut: string } {
  const given = typed.map((word) => withoutQuotes(word))
  if (shell === 'powershell-empty') return { words: [...given, ''], cut: '' }
  if (shell !== 'bash') return { words: given.length === 0 ? [''] : given, cut: '' }
  const words: string[] = []
  let cut = ''
  for (let index = 0; index < given.length; index += 1) {
    const word = given[index] ?? ''
    const last = words.at(-1)
    if (!/^[=:]+$/.test(word) || last === undefined || last === '') {
      words.push(word)
      cut = ''
      continue
    }
    cut = last + word
    words[words.length - 1] = cut + (given[index + 1] ?? '')
    index += 1
  }
  return { words: words.length === 0 ? [''] : words, cut }
}

/** A shell gives words as they were typed, and of the last one the quote that is still open. It keeps that itself. */
function withoutQuotes(word: string): string {
  const { before = '', quote, rest = '' } = /^(?<before>--[\w-]+=)?(?<quote>["'])(?<rest>.*)$/s.exec(word)?.groups ?? {}
  if (quote === undefined) return word
  return before + (rest.endsWith(quote) ? rest.slice(0, -1) : rest)
}
