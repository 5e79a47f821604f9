import type { Io } from '../../base/io.ts'
import { candidatesFor } from './candidates.ts'
import { fitting } from './fitting.ts'
import type { Candidate, Wanted } from './candidates.ts'
import { positionOf } from './position.ts'
import { joinedBy } from './words-of.ts'

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
