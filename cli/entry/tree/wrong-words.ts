import type { CommanderError } from 'commander'
import { typedAs } from '../../base/command-hints.ts'
import { usageError } from '../../base/errors.ts'
import type { CliError } from '../../base/errors.ts'
import { nearestWord } from '../../base/nearest-word.ts'
import { partsOf } from './command-data.ts'
import { optionIn, placeOf, wordsOf } from './place.ts'
import type { Place } from './place.ts'
import { DROPPED, renamed } from './renamed.ts'

type Mistake = {
  message: string
  words: readonly string[]
  place: Place
  wrong?: string | undefined
  isUnknown: boolean
}

/** Commander's own errors, in our words and with our exit code. */
export async function fromCommander(error: CommanderError, words: readonly string[]): Promise<CliError> {
  const [message = ''] = error.message.replace(/^error: /, '').split('\n')
  const wrong = /'([^']+)'/.exec(message)?.[1]
  const isUnknown = error.code.startsWith('commander.unknown')
  return answerTo({ message, words, wrong, place: await placeOf(words), isUnknown })
}

export function unknownCommand(words: readonly string[], place: Place): Promise<CliError> {
  return answerTo({
    message: `unknown command '${place.unknown}'`,
    words,
    wrong: place.unknown,
    place,
    isUnknown: true,
  })
}

export function isRenamed(words: readonly string[], place: Place): boolean {
  return renamed({ words, takesValue: (flag) => takesValue(place, flag) }) !== undefined
}

async function answerTo(mistake: Mistake): Promise<CliError> {
  const { message, words, place, wrong, isUnknown } = mistake
  const [bare = ''] = wrong?.split('=') ?? []
  const old = renamed({ words, takesValue: (flag) => takesValue(place, flag) })
  if (old !== undefined) return usageError(...old)
  const dropped = DROPPED.get(bare)
  if (dropped !== undefined) return usageError(`there is no ${bare} any more`, dropped)
  const meant = isUnknown && wrong !== undefined ? meantBy(wrong, place) : undefined
  if (meant === undefined || wrong === undefined) return usageError(message, `svc ${wordsOf(place)}--help`)
  // `refunds` asks to see some; `refund` makes one. Nouns have their verbs below them, and make nothing.
  const isPlural = wrong === `${meant}s` && !wrong.startsWith('-')
  if (isPlural && wordsOf(place) !== '') return usageError(message, `svc ${wordsOf(place)}--help`)
  // Its value stays behind it.
  const value = wrong.startsWith('--') ? wrong.slice(bare.length) : ''
  const corrected = words.map((word, index) =>
    word === wrong && (wrong.startsWith('-') || index === place.at) ? `${meant}${value}` : word,
  )
  return usageError(message, `svc ${(await withNextWord(corrected)).map((word) => typedAs(word)).join(' ')}`)
}

/** The same words with the one behind a corrected noun corrected too: a hint is a command that exists. */
async function withNextWord(words: readonly string[]): Promise<readonly string[]> {
  const { command, unknown, at } = await placeOf(words)
  if (unknown === undefined) return words
  const meant = nearestWord(
    unknown,
    command.commands.map(({ name }) => name),
  )
  // Nothing near: what there is stands in the help of the words before.
  return meant === undefined ? [...words.slice(0, at), '--help'] : withNextWord(words.with(at, meant))
}

/** The nearest command; of flags the one whose last part was typed, or the nearest that begins as it does. */
function meantBy(wrong: string, { command, options }: Place): string | undefined {
  if (!wrong.startsWith('-'))
    return nearestWord(
      wrong,
      command.commands.map(({ name }) => name),
    )
  const [flag = ''] = wrong.split('=')
  const flags = options.map((option) => partsOf(option).long)
  const [only, ...others] = flags.filter((each) => each.endsWith(flag.slice(1)))
  if (only !== undefined && others.length === 0) return only
  const near = nearestWord(flag, flags)
  return near?.[2] === wrong[2] ? near : undefined
}

function takesValue(place: Place, flag: string): boolean {
  const option = optionIn(place, flag)
  return option !== undefined && partsOf(option).value === 'required'
}
