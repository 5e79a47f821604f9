import { isNamedBy, partsOf } from '../tree/command-data.ts'
import type { ArgumentData, CommandData, OptionData } from '../tree/command-data.ts'
import { ROOT, readChild } from '../tree/command-file.ts'

/** Where on the command line the cursor stands. */
export type Position = {
  /** The command that the words before name, and its names below svc. */
  command: CommandData
  path: readonly string[]
  /** Options that may stand here: the command's own and those of the commands above it. */
  options: readonly OptionData[]
  /** Options that were given already, with their values. */
  given: ReadonlyMap<string, string>
  /** The words that are arguments of the command. */
  taken: readonly string[]
  /** The word that is being typed. */
  word: string
  /** The option right before, where it may go without a value. */
  maybe: OptionData | undefined
} & (
  | { expects: 'value'; option: OptionData; prefix: string }
  | { expects: 'option' }
  | { expects: 'word'; argument: ArgumentData | undefined }
)

/** Reads the words before the cursor as the commands themselves would. */
export async function positionOf(words: readonly string[]): Promise<Position> {
  const before = words.slice(0, -1)
  const word = words.at(-1) ?? ''
  const walked = await walk(before)
  const { command, options, taken, open, maybe, isEnded } = walked
  const base = { command, path: walked.path, options, given: walked.given, taken, word, maybe }
  if (open !== undefined) return { ...base, expects: 'value', option: open, prefix: '' }
  if (!isEnded && word.startsWith('-')) {
    const [name = '', ...rest] = word.split('=')
    const option = rest.length === 0 ? undefined : options.find((each) => isNamedBy(each, name))
    if (option !== undefined && partsOf(option).value !== 'none')
      return { ...base, expects: 'value', option, prefix: `${name}=` }
    return { ...base, expects: 'option' }
  }
  return { ...base, expects: 'word', argument: argumentAt(command, taken.length) }
}

type Walked = Pick<Position, 'command' | 'path' | 'options' | 'given' | 'taken' | 'maybe'> & {
  /** The option whose value comes next. */
  open: OptionData | undefined
  /** Whether `--` has ended the options. */
  isEnded: boolean
}

async function walk(words: readonly string[]): Promise<Walked> {
  let command = ROOT
  let options = ROOT.options
  let open: OptionData | undefined
  let maybe: OptionData | undefined
  let isEnded = false
  const path: string[] = []
  const taken: string[] = []
  const given = new Map<string, string>()
  for (const word of words) {
    if (open !== undefined) {
      given.set(partsOf(open).long, word)
      open = undefined
      continue
    }
    const before = maybe
    maybe = undefined
    if (!isEnded && word.startsWith('-') && word !== '-') {
      isEnded = word === '--'
      const option = options.find((each) => isNamedBy(each, word.split('=')[0] ?? ''))
      if (option === undefined) continue
      const value = word.includes('=') ? word.slice(word.indexOf('=') + 1) : undefined
      const { long, value: takes } = partsOf(option)
      given.set(long, value ?? '')
      if (takes === 'required' && value === undefined) open = option
      if (takes === 'optional' && value === undefined) maybe = option
      continue
    }
    if (before?.choices?.some((choice) => choice.toLowerCase() === word.toLowerCase()) === true) {
      given.set(partsOf(before).long, word)
      continue
    }
    const child = taken.length > 0 ? undefined : await readChild(command, word)
    if (child === undefined) taken.push(word)
    else {
      command = child
      options = [...child.options, ...options]
      path.push(child.name)
    }
  }
  return { command, path, options, given, taken, open, maybe, isEnded }
}

function argumentAt({ arguments: all }: CommandData, index: number): ArgumentData | undefined {
  const last = all.at(-1)
  return all[index] ?? (last?.isVariadic === true ? last : undefined)
}
