import { typedAs } from '../../base/command-hints.ts'
import { usageError } from '../../base/errors.ts'
import { nearestWord } from '../../base/nearest-word.ts'

/** The command line as it was typed, and the one that prints its command's help. */
export type Line = { words: readonly string[]; help: string }

/** Where a value stands, and what it may be. */
type Place = {
  /** The flag, or the argument in angle brackets. */
  name: string
  choices: readonly string[]
  synonyms?: Readonly<Record<string, string>> | undefined
  line: Line
}

/**
 * The choice that a word names, in any case.
 * @throws {CliError} exit code 2, with the choices, and the command line with the nearest one
 */
export function readChoice(word: string, { name, choices, synonyms = {}, line }: Place): string {
  const wanted = synonyms[word.toUpperCase()] ?? word
  const found = choices.find((choice) => choice.toLowerCase() === wanted.toLowerCase())
  if (found !== undefined) return found
  const meant = nearestWord(word, [...choices, ...Object.keys(synonyms)])
  const near = line.words.map((each) => typedAs(mended(each, word, meant ?? ''))).join(' ')
  throw usageError(
    `invalid value "${word}" for ${name}: use one of ${choices.join(', ')}`,
    meant === undefined || line.words.length === 0 ? line.help : `svc ${near}`,
  )
}

/** Several of them, between commas. */
export function readChoices(text: string, place: Place): string[] {
  return text.split(',').map((word) => readChoice(word.trim(), place))
}

/** The word, or the end of it behind an equals sign or a comma, as it was meant. */
function mended(typed: string, wrong: string, meant: string): string {
  if (typed === wrong) return meant
  return typed.replace(/(?<=[=,])[^,]*/g, (part) => (part.trim() === wrong ? meant : part))
}
