import { TOPICS } from '../tree/help-topics.ts'
import type { Io } from '../../base/io.ts'
import { sourceOfArgument, sourceOfValue } from './sources.ts'
import type { Source } from './sources.ts'
import { childOf } from './position.ts'
import type { Position } from './position.ts'
import type { CommandMap, MapOption } from '../tree/map.ts'

export type Candidate = { value: string; meaning: string }

export type Wanted = {
  candidates: readonly Candidate[]
  /** What the shell adds: names of files, of directories; or no blank behind the word. */
  more?: 'files' | 'dirs' | 'nospace' | undefined
}

export type Asked = { io: Io; words: readonly string[] }

/** What could stand where the cursor does. */
export async function candidatesFor(position: Position, asked: Asked): Promise<Wanted> {
  if (position.expects === 'option') return { candidates: optionsFor(position) }
  if (position.expects === 'value') {
    const { option, prefix } = position
    const found = await valuesFrom(option.choices, sourceOfValue(position, option), { position, asked })
    return { ...found, candidates: found.candidates.map((each) => ({ ...each, value: prefix + each.value })) }
  }
  const { command, root, taken, path, argument } = position
  if (path[0] === 'help') return { candidates: helpFor(root, taken) }
  const choices = (position.maybe?.choices ?? []).map((value) => ({ value, meaning: '' }))
  const commands = [...choices, ...(taken.length === 0 ? commandsFor(command, position.word) : [])]
  if (argument === undefined) return { candidates: commands }
  // The method may be left out.
  if (path[0] === 'api' && position.word.startsWith('/')) return valuesFrom(null, 'paths', { position, asked })
  const found = await valuesFrom(argument.choices, sourceOfArgument(position, argument), { position, asked })
  return { ...found, candidates: [...commands, ...found.candidates] }
}

/** Names, and an alias only where it begins as what is typed and the name does not. */
function commandsFor({ commands }: CommandMap, word: string): Candidate[] {
  return commands.flatMap(({ name, aliases, summary }) => {
    const alias = name.startsWith(word) ? undefined : aliases.find((each) => word !== '' && each.startsWith(word))
    return [{ value: alias ?? name, meaning: summary }]
  })
}

/** The command's own options come before those of every command; those that were given are not offered again. */
function optionsFor({ options, given, word, path }: Position): Candidate[] {
  const left = options.filter((option) => option.variadic || !given.has(option.name))
  const isLetter = /^-\w?$/.test(word)
  const ending = path.length === 0 ? [] : ['--version']
  return [
    ...left.filter(({ name }) => !ending.includes(name)).flatMap((option) => namesOf(option, isLetter)),
    { value: '--help', meaning: 'display help for command' },
  ]
}

function namesOf({ name, short, summary }: MapOption, isLetter: boolean): Candidate[] {
  const long = { value: name, meaning: summary }
  return isLetter && short !== null ? [long, { value: short, meaning: summary }] : [long]
}

function helpFor(root: CommandMap, words: readonly string[]): Candidate[] {
  const command = words.reduce<CommandMap | undefined>((above, word) => above && childOf(above, word), root)
  const commands = (command?.commands ?? []).map(({ name, summary }) => ({ value: name, meaning: summary }))
  return words.length > 0 ? commands : [...commands, ...TOPICS.map(({ topic, meaning }) => ({ value: topic, meaning }))]
}

/** What the shell adds to these: a path of the API goes on behind what is offered of it. */
const MORE: Readonly<Partial<Record<Source, Wanted['more']>>> = { scenarios: 'files', paths: 'nospace' }

async function valuesFrom(
  choices: readonly string[] | null,
  source: Source | undefined,
  { position, asked }: { position: Position; asked: Asked },
): Promise<Wanted> {
  if (choices !== null) return { candidates: choices.map((value) => ({ value, meaning: '' })) }
  if (source === undefined) return { candidates: [] }
  if (source === 'files' || source === 'dirs') return { candidates: [], more: source }
  // Only these positions pay for what it takes to ask a service, or to read the user's files.
  const { findNames } = await import('./names.ts')
  return { candidates: await findNames(source, { position, asked }), more: MORE[source] }
}
