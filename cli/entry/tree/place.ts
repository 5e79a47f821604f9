import { isNamedBy, partsOf } from './command-data.ts'
import type { CommandData, OptionData } from './command-data.ts'
import { ROOT, readChild } from './command-file.ts'

/** What the words of a command line name. */
export type Place = {
  command: CommandData
  /** The words that name it. */
  named: readonly string[]
  /** Those that may stand behind it: its own, and those of the commands above it. */
  options: readonly OptionData[]
  /** The first word that should name a command and names none, and where it stands. */
  unknown: string | undefined
  at: number
}

/** The command that words name; options between them are passed over with their values. */
export async function placeOf(words: readonly string[]): Promise<Place> {
  let command = ROOT
  let options = ROOT.options
  const named: string[] = []
  for (let index = 0; index < words.length && command.commands.length > 0; index += 1) {
    const word = words[index] ?? ''
    if (word === '--') break
    const option = options.find((each) => isNamedBy(each, word))
    // Its value is the next word.
    if (option !== undefined && partsOf(option).value === 'required') index += 1
    if (word.startsWith('-')) continue
    const child = await readChild(command, word)
    if (child === undefined) return { command, named, options, unknown: word, at: index }
    command = child
    options = [...child.options, ...options]
    named.push(word)
  }
  return { command, named, options, unknown: undefined, at: words.length }
}

/** The option that a flag names, with or without a value behind it. */
export function optionIn({ options }: Place, flag: string): OptionData | undefined {
  return options.find((option) => isNamedBy(option, flag.split('=')[0] ?? ''))
}
