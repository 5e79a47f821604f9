import { TOPICS } from '../tree/help-topics.ts'
import type { Io } from '../../base/io.ts'
import { sourceOfArgument, sourceOfValue } from './sources.ts'
import type { Source } from './sources.ts'
import type { Position } from './position.ts'
import { partsOf } from '../tree/command-data.ts'
import type { CommandData, OptionData } from '../tree/command-data.ts'
import { ROOT, readChild } from '../tree/command-file.ts'

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
  const { command, taken, path, argument } = position
  if (path[0] === 'help') return { candidates: await helpFor(taken) }
  const choices = (position.maybe?.choices ?? []).map((value) => ({ value, meaning: '' }))
  const commands = [...choices, ...(taken.length === 0 ? commandsBelow(command) : [])]
  if (argument === undefined) return { candidates: commands }
  // The method may be left out.
  if (path[0] === 'api' && position.word.startsWith('/')) return valuesFrom(undefined, 'paths', { position, asked })
  const found = await valuesFrom(argument.choices, sourceOfArgument(position, argument), { position, asked })
  return { ...found, candidates: [...commands, ...found.candidates] }
}

function commandsBelow({ commands }: CommandData): Candidate[] {
  return commands.map(({ name, summary }) => ({ value: name, meaning: summary }))
}

/** The command's own options come before those of every command; those that were given are not offered again. */
function optionsFor({ options, given, word, path }: Position): Candidate[] {
  const left = options.filter(
    (option) => option.isHidden !== true && (option.isRepeatable === true || !given.has(partsOf(option).long)),
  )
  const isLetter = /^-\w?$/.test(word)
  return [
    ...left.flatMap((option) => namesOf(option, isLetter)),
    ...(path.length === 0 ? [{ value: '--version', meaning: 'Print the version' }] : []),
    { value: '--help', meaning: 'Print help' },
  ]
}

function namesOf(option: OptionData, isLetter: boolean): Candidate[] {
  const { long, short } = partsOf(option)
  return [long, ...(isLetter && short !== undefined ? [short] : [])].map((value) => ({
    value,
    meaning: option.summary,
  }))
}

async function helpFor(words: readonly string[]): Promise<Candidate[]> {
  let command: CommandData | undefined = ROOT
  for (const word of words) command &&= await readChild(command, word)
  const commands = command === undefined ? [] : commandsBelow(command)
  return words.length > 0 ? commands : [...commands, ...TOPICS.map(({ topic, meaning }) => ({ value: topic, meaning }))]
}

/** What the shell adds to these: a path of the API goes on behind what is offered of it. */
const MORE: Readonly<Partial<Record<Source, Wanted['more']>>> = { scenarios: 'files', paths: 'nospace' }

async function valuesFrom(
  choices: readonly string[] | undefined,
  source: Source | undefined,
  { position, asked }: { position: Position; asked: Asked },
): Promise<Wanted> {
  if (choices !== undefined) return { candidates: choices.map((value) => ({ value, meaning: '' })) }
  if (source === undefined) return { candidates: [] }
  if (source === 'files' || source === 'dirs') return { candidates: [], more: source }
  // Only these positions pay for what it takes to ask a service, or to read the user's files.
  const { findNames } = await import('./names.ts')
  return { candidates: await findNames(source, { position, asked }), more: MORE[source] }
}
