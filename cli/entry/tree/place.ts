import { isLeaf, isNamedBy, partsOf } from './command-data.ts'
import type { CommandData, OptionData } from './command-data.ts'
import { ROOT, readChild } from './command-file.ts'

export type Place = {
  command: CommandData
  named: readonly string[]
  /** Those that may stand behind it: its own, and those of the commands above it. */
  options: readonly OptionData[]
  /** Options that were given, with their values. */
  given: ReadonlyMap<string, string>
  taken: readonly string[]
  /** The last option, where its value comes next; `isOptional` where another word may come as well. */
  open: { option: OptionData; isOptional: boolean } | undefined
  isEnded: boolean
  /** The first word that should name a command and names none, and where it stands. */
  unknown: string | undefined
  at: number
}

/** Reads words as the commands themselves would. */
export async function placeOf(words: readonly string[]): Promise<Place> {
  let command = ROOT
  let options = ROOT.options
  let open: Place['open']
  let isEnded = false
  let at = words.length
  const named: string[] = []
  const taken: string[] = []
  const given = new Map<string, string>()
  for (const [index, word] of words.entries()) {
    const before = open
    open = undefined
    if (before?.isOptional === false || isChoiceOf(before?.option, word)) {
      given.set(longOf(before?.option), word)
    } else if (!isEnded && word.startsWith('-') && word !== '-') {
      isEnded = word === '--'
      const [flag = ''] = word.split('=')
      const option = options.find((each) => isNamedBy(each, flag))
      const hasValue = flag !== word
      given.set(longOf(option), hasValue ? word.slice(flag.length + 1) : '')
      const takes = option === undefined || hasValue ? 'none' : partsOf(option).value
      if (option !== undefined && takes !== 'none') open = { option, isOptional: takes === 'optional' }
    } else {
      const child = taken.length > 0 || isEnded ? undefined : await readChild(command, word)
      if (child === undefined) {
        if (taken.length === 0 && !isLeaf(command) && !isEnded) at = index
        taken.push(word)
        continue
      }
      command = child
      options = [...child.options, ...options]
      named.push(child.name)
    }
  }
  return { command, named, options, given, taken, open, isEnded, unknown: words[at], at }
}

function longOf(option: OptionData | undefined): string {
  return option === undefined ? '' : partsOf(option).long
}

function isChoiceOf(option: OptionData | undefined, word: string): boolean {
  return option?.choices?.some((choice) => choice.toLowerCase() === word.toLowerCase()) === true
}

export function optionIn({ options }: Pick<Place, 'options'>, flag: string): OptionData | undefined {
  return options.find((option) => isNamedBy(option, flag.split('=')[0] ?? ''))
}

export function wordsOf({ named }: Place): string {
  return named.map((word) => `${word} `).join('')
}
