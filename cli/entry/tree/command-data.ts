export type ArgumentData = {
  name: string
  summary: string
  isRequired?: true
  isVariadic?: true
  choices?: readonly string[]
  default?: unknown
}

export type OptionData = {
  /** As commander takes them: `-o, --output <form>`. */
  flags: string
  summary: string
  choices?: readonly string[]
  /** Other words for some of the choices. */
  synonyms?: Readonly<Record<string, string>>
  /** Whether several choices may be given, between commas or by repeating it. */
  isList?: true
  /** Whether it may be given more than once. */
  isRepeatable?: true
  isRequired?: true
  default?: unknown
  group?: string
  /** The names of options that it can't be given with. */
  conflicts?: readonly string[]
}

/** A command with everything below it, as data: enough for its help, for completion and for every wrong command line. */
export type CommandData = {
  name: string
  summary: string
  usage: string
  arguments: readonly ArgumentData[]
  options: readonly OptionData[]
  after: string
  commands: readonly CommandData[]
}

export type FlagParts = {
  long: string
  short: string | undefined
  /** Whether a value follows, and what help calls it. */
  value: 'none' | 'required' | 'optional'
  valueName: string
}

export function partsOf({ flags }: Pick<OptionData, 'flags'>): FlagParts {
  const [, short, long = '', open, valueName = ''] =
    /^(?:(-\w), )?(--[\w-]+)(?: ([<[])([^>\]]+)[>\]])?$/.exec(flags) ?? []
  return { long, short, value: open === undefined ? 'none' : open === '<' ? 'required' : 'optional', valueName }
}

export function isNamedBy(option: OptionData, word: string): boolean {
  const { long, short } = partsOf(option)
  return word === short || word === long
}

/** The command below this one that a word names. `ls` stands for every `list`, and is not in the help. */
export function childOf({ commands }: Pick<CommandData, 'commands'>, word: string): CommandData | undefined {
  return commands.find(({ name }) => name === (word === 'ls' ? 'list' : word))
}

/** Whether the command does something itself: a group does where it takes words of its own, as `svc api` does a path. */
export function isLeaf({ commands, arguments: taken }: Pick<CommandData, 'commands' | 'arguments'>): boolean {
  return commands.length === 0 || taken.length > 0
}

export function leavesOf(
  command: CommandData,
  above: readonly string[] = [],
): { words: string[]; leaf: CommandData }[] {
  const words = [...above, command.name]
  const below = command.commands.flatMap((child) => leavesOf(child, words))
  return isLeaf(command) ? [{ words, leaf: command }, ...below] : below
}

export function placeholderOf({ name, isRequired, isVariadic }: ArgumentData): string {
  const text = `${name}${isVariadic === true ? '...' : ''}`
  return isRequired === true ? `<${text}>` : `[${text}]`
}
