import { readdirSync } from 'node:fs'
import { join } from 'node:path'
import { packageRoot } from '../../../src/lib/package-root.ts'
import type { Io } from '../../base/io.ts'
import { partsOf } from '../tree/command-data.ts'
import type { CommandData, OptionData } from '../tree/command-data.ts'
import { ROOT, readChild } from '../tree/command-file.ts'
import { TOPICS } from '../tree/help-topics.ts'
import type { Position } from './position.ts'
import { sourceOfArgument, sourceOfValue } from './sources.ts'
import type { Source } from './sources.ts'

export type Candidate = { value: string; meaning: string }

export type Wanted = {
  candidates: readonly Candidate[]
  /** What the shell adds: names of files, of directories; or no blank behind the word. */
  more?: 'files' | 'dirs' | 'nospace' | undefined
}

type Asked = { io: Io; words: readonly string[] }

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
  return { candidates: await findNames(source, { position, asked }), more: MORE[source] }
}

/** The names that there are right now. None of it is loaded where completion has no need of it. */
async function findNames(
  source: Exclude<Source, 'files' | 'dirs'>,
  { position, asked }: { position: Position; asked: Asked },
): Promise<Candidate[]> {
  if (source === 'scenarios') return scenarios()
  if (source === 'profiles') return profiles(asked)
  if (source === 'events') return events()
  if (source === 'methods') return methods()
  if (source === 'chapters') return chapters()
  if (source === 'paths') return paths(position)
  const { askService } = await import('./ask-service.ts')
  return askService(source, { io: asked.io, given: position.given })
}

function scenarios(): Candidate[] {
  return readdirSync(join(packageRoot(), 'examples', 'scenarios'))
    .filter((file) => file.endsWith('.yaml'))
    .map((file) => ({ value: file.slice(0, -'.yaml'.length), meaning: 'a scenario of svc' }))
}

async function profiles({ io }: Asked): Promise<Candidate[]> {
  const [{ configDirOf }, { DEV, readUserConfig }] = await Promise.all([
    import('../../client/auth/config-dir.ts'),
    import('../../client/auth/profiles.ts'),
  ])
  const config = readUserConfig(configDirOf(io.env))
  const own = Object.entries(config.profiles).map(([value, { api_url, role }]) => ({
    value,
    meaning: [role ?? '', api_url].join(' ').trim(),
  }))
  return [...own, { value: DEV, meaning: 'the running service of the state directory' }]
}

async function events(): Promise<Candidate[]> {
  const { EventType } = await import('../../../src/wire/webhook-events.ts')
  return EventType.options.map((value) => ({ value, meaning: '' }))
}

async function methods(): Promise<Candidate[]> {
  const { METHODS } = await import('../commands/api/request.ts')
  return METHODS.map((value) => ({ value, meaning: '' }))
}

async function chapters(): Promise<Candidate[]> {
  const { docTopics } = await import('../commands/docs.ts')
  return docTopics().map(({ topic, title }) => ({ value: topic, meaning: title }))
}

/** Paths of the contract, each up to where an id has to be typed. */
async function paths({ taken, word }: Position): Promise<Candidate[]> {
  const { OPERATIONS } = await import('../commands/api/operations.ts')
  const method = taken[0]?.toUpperCase()
  const fitting = OPERATIONS.filter((each) => method === undefined || each.method === method)
  const values = fitting.map(({ path }) => pathWith(path, word.split('/')))
  return [...new Set(values)].map((value) => ({ value, meaning: '' }))
}

/** The path with the ids that were typed in it; it ends where one is still being typed. */
function pathWith(path: string, typed: readonly string[]): string {
  const parts = path.split('/')
  const open = parts.findIndex((part, index) => part.startsWith('{') && index >= typed.length - 1)
  const known = parts.slice(0, open === -1 ? undefined : open)
  const filled = known.map((part, index) => (part.startsWith('{') ? (typed[index] ?? '') : part)).join('/')
  return open === -1 ? filled : `${filled}/${typed[open] ?? ''}`
}
