import type { Io } from '../../base/io.ts'
import { candidatesFor } from './candidates.ts'
import type { Candidate, Wanted } from './candidates.ts'
import { positionOf } from './position.ts'

/** What a shell may put into a command line as it is, and does not take for one of our own signs: no other name is offered. */
const SAFE = /^(?!:)[\w@%+=:,./-]+$/

/**
 * Answers a shell that asks what could stand next: a line for each candidate, with what it means behind a tab; `:files` or
 * `:dirs` where the shell's own are meant, `:nospace` where more belongs to the word, and `:whole` where candidates don't
 * begin as the word does, and take its place. It asks nobody anything and says
 * nothing else: a failure has no candidates.
 * @param asked the shell, then the words up to the cursor; the last is the one that is being typed
 */
export async function complete([shell = '', ...typed]: readonly string[], io: Io): Promise<void> {
  try {
    const { words, cut } = joinedBy(shell, typed)
    const position = await positionOf(words)
    const wanted = await candidatesFor(position, { io, words })
    const prefix = position.expects === 'value' ? position.prefix : ''
    io.stdout.write(linesOf(wanted, { word: words.at(-1) ?? '', prefix, cut }).join(''))
  } catch {
    // Nobody typed this command line to its end: there is nothing to tell them.
  }
}

type Typed = { word: string; prefix: string; cut: string }

function linesOf({ candidates, more }: Wanted, { cut, ...typed }: Typed): string[] {
  const safe = candidates.filter(({ value }) => value !== '' && SAFE.test(value))
  const { found, isWhole } = fitting(safe, typed)
  const kinds = [...(isWhole ? [':whole'] : []), ...(more === undefined ? [] : [`:${more}`])]
  return [...found.map((each) => lineOf(each, cut)), ...kinds].map((line) => `${line}\n`)
}

/** Bash replaces only what stands behind the last of its word breaks. */
function lineOf({ value, meaning }: Candidate, cut: string): string {
  const rest = value.slice(cut.length)
  const text = meaning.replaceAll(/[\p{Cc}\p{Zl}\p{Zp}\p{Bidi_Control}]/gu, ' ')
  return text === '' ? rest : `${rest}\t${text}`
}

/** Ids begin with their time: tables show their ends, and people know them by those. */
const ID = /^[0-9a-f]{8}-[0-9a-f-]{27}$/
const END = 8

/**
 * The candidates that a word can become: those that begin as it does, else in another case; else the only id whose end
 * begins so, for of several a shell would put back what they have in common.
 * @param prefix what of the word is no part of its value: `--status=`
 */
function fitting(
  candidates: readonly Candidate[],
  { word, prefix }: { word: string; prefix: string },
): { found: readonly Candidate[]; isWhole: boolean } {
  const exact = candidates.filter(({ value }) => value.startsWith(word))
  if (exact.length > 0) return { found: exact, isWhole: false }
  const small = word.toLowerCase()
  const anyCase = candidates.filter(({ value }) => value.toLowerCase().startsWith(small))
  if (anyCase.length > 0) return { found: anyCase, isWhole: true }
  const end = small.slice(prefix.length)
  const byEnd = candidates.filter(({ value }) => isEndOf(value.slice(prefix.length), end))
  return byEnd.length === 1 ? { found: byEnd, isWhole: true } : { found: [], isWhole: false }
}

function isEndOf(id: string, end: string): boolean {
  return ID.test(id) && end.length > 1 && (id.slice(-END).startsWith(end) || (end.length > END && id.endsWith(end)))
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
