import type { CommandMap, MapArgument, MapOption } from '../tree/map.ts'

/** Where on the command line the cursor stands. */
export type Position = {
  root: CommandMap
  /** The command that the words before name, and its names below svc. */
  command: CommandMap
  path: readonly string[]
  /** Options that may stand here: the command's own and those of the commands above it. */
  options: readonly MapOption[]
  /** Options that were given already, with their values. */
  given: ReadonlyMap<string, string>
  /** The words that are arguments of the command. */
  taken: readonly string[]
  /** The word that is being typed. */
  word: string
  /** The option right before, where it may go without a value. */
  maybe: MapOption | undefined
} & (
  | { expects: 'value'; option: MapOption; prefix: string }
  | { expects: 'option' }
  | { expects: 'word'; argument: MapArgument | undefined }
)

/** Reads the words before the cursor as the commands themselves would. */
export function positionOf(root: CommandMap, words: readonly string[]): Position {
  const before = words.slice(0, -1)
  const word = words.at(-1) ?? ''
  const walked = walk(root, before)
  const { command, options, taken, open, maybe, isEnded } = walked
  const base = { root, command, path: walked.path, options, given: walked.given, taken, word, maybe }
  if (open !== undefined) return { ...base, expects: 'value', option: open, prefix: '' }
  if (!isEnded && word.startsWith('-')) {
    const [name = '', ...rest] = word.split('=')
    const option = rest.length === 0 ? undefined : options.find((each) => each.name === name && each.value !== 'none')
    if (option !== undefined) return { ...base, expects: 'value', option, prefix: `${name}=` }
    return { ...base, expects: 'option' }
  }
  return { ...base, expects: 'word', argument: argumentAt(command, taken.length) }
}

type Walked = Pick<Position, 'command' | 'path' | 'options' | 'given' | 'taken' | 'maybe'> & {
  /** The option whose value comes next. */
  open: MapOption | undefined
  /** Whether `--` has ended the options. */
  isEnded: boolean
}

function walk(root: CommandMap, words: readonly string[]): Walked {
  let command = root
  let options = root.options
  let open: MapOption | undefined
  let maybe: MapOption | undefined
  let isEnded = false
  const path: string[] = []
  const taken: string[] = []
  const given = new Map<string, string>()
  for (const word of words) {
    if (open !== undefined) {
      given.set(open.name, word)
      open = undefined
      continue
    }
    const before = maybe
    maybe = undefined
    if (!isEnded && word.startsWith('-') && word !== '-') {
      isEnded = word === '--'
      const option = options.find(({ name, short }) => name === word.split('=')[0] || short === word)
      if (option === undefined) continue
      const value = word.includes('=') ? word.slice(word.indexOf('=') + 1) : undefined
      given.set(option.name, value ?? '')
      if (option.value === 'required' && value === undefined) open = option
      if (option.value === 'optional' && value === undefined) maybe = option
      continue
    }
    if (before?.choices?.some((choice) => choice.toLowerCase() === word.toLowerCase()) === true) {
      given.set(before.name, word)
      continue
    }
    const child = taken.length > 0 ? undefined : childOf(command, word)
    if (child === undefined) taken.push(word)
    else {
      command = child
      options = [...child.options, ...options]
      path.push(child.name)
    }
  }
  return { command, path, options, given, taken, open, maybe, isEnded }
}

/** The command below this one that a word names. */
export function childOf({ commands }: CommandMap, word: string): CommandMap | undefined {
  return commands.find(({ name, aliases }) => name === word || aliases.includes(word))
}

function argumentAt({ arguments: all }: CommandMap, index: number): MapArgument | undefined {
  const last = all.at(-1)
  return all[index] ?? (last?.variadic === true ? last : undefined)
}
