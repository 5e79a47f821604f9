import { readdirSync } from 'node:fs'
import { join } from 'node:path'
import { packageRoot } from '../../../src/lib/package-root.ts'
import type { Io } from '../../base/io.ts'
import { partsOf } from '../tree/command-data.ts'
import type { CommandData, OptionData } from '../tree/command-data.ts'
import { ROOT, readChild } from '../tree/command-file.ts'
import { TOPICS } from '../tree/help-topics.ts'
import { optionIn, placeOf } from '../tree/place.ts'
import type { Place } from '../tree/place.ts'
import type { ListName } from './ask-service.ts'

export type Candidate = { value: string; meaning: string }

export type Completions = {
  candidates: readonly Candidate[]
  /** What the shell adds: names of files, or of directories. */
  more?: 'files' | 'dirs' | undefined
}

/** Where the names come from that could stand in a place. */
type Source = 'files' | 'dirs' | 'profiles' | 'scenarios' | 'events' | ListName

type Rule = readonly [command: RegExp, name: RegExp, source: Source]

const ARGUMENTS: readonly Rule[] = [
  [/^(payments|sandbox|explain)\b/, /^(id|payment)$/, 'payments'],
  [/^disputes raise$/, /^payment$/, 'payments'],
  [/./, /^mandate$/, 'mandates'],
  [/./, /^dispute$/, 'disputes'],
  [/^webhooks /, /^(delivery|ids)$/, 'deliveries'],
  [/./, /^(merchant|realm)$/, 'merchants'],
  [/^team /, /^member$/, 'team'],
  [/^staff /, /^member$/, 'staff'],
  [/^credentials /, /^client-id$/, 'credentials'],
  [/^payouts accounts /, /^account-id$/, 'payout-accounts'],
  [/./, /^mail$/, 'mail'],
  [/^profile (use|show|remove)$/, /^name$/, 'profiles'],
  [/^sandbox scenarios show$/, /^name$/, 'scenarios'],
  [/./, /^scenarios$/, 'scenarios'],
  [/^((sandbox )?trigger|webhooks test)$/, /^event$/, 'events'],
  [/./, /^(file|path)$/, 'files'],
]

/** By the option, and then by what its value is called. Paths of the output's members are none of the file system. */
const VALUES: readonly Rule[] = [
  [/./, /^--profile\b/, 'profiles'],
  [/./, /^--(?!query )\S+ (file|path|export)$/, 'files'],
  [/./, /^--(env|out) /, 'files'],
  [/./, /^--\S+ (directory|dir|folder)$/, 'dirs'],
  [/./, /^--\S+ merchant$/, 'merchants'],
  [/^(payments|sandbox|webhooks)/, /^--payment /, 'payments'],
  [/./, /^--\S+ event$/, 'events'],
  [/./, /^--(debtor-)?bank-id /, 'banks'],
  [/^payments create$/, /^--scenario /, 'bank-scenarios'],
  [/^login$/, /^--realm /, 'merchants'],
]

function sourceIn(rules: readonly Rule[], { named }: Place, name: string): Source | undefined {
  // Before any command a flag may stand, too.
  const command = named.length === 0 ? 'svc' : named.join(' ')
  return rules.find(([ofCommand, ofName]) => ofCommand.test(command) && ofName.test(name))?.[2]
}

export async function candidatesFor(words: readonly string[], io: Io): Promise<Completions> {
  const place = await placeOf(words.slice(0, -1))
  const word = words.at(-1) ?? ''
  if (place.open?.isOptional === false) return valuesOf(place.open.option, place, io)
  if (place.isEnded || !word.startsWith('-')) return wordsFor(place, io)
  const option = word.includes('=') ? optionIn(place, word) : undefined
  if (option === undefined || partsOf(option).value === 'none') return { candidates: optionsFor(place, word) }
  const prefix = `${word.split('=')[0]}=`
  const { candidates, more } = await valuesOf(option, place, io)
  return { candidates: candidates.map((each) => ({ ...each, value: prefix + each.value })), more }
}

async function wordsFor(place: Place, io: Io): Promise<Completions> {
  const { command, taken, named, open } = place
  if (named[0] === 'help') return { candidates: await helpFor(taken) }
  const last = command.arguments.at(-1)
  const argument = command.arguments[taken.length] ?? (last?.isVariadic === true ? last : undefined)
  const commands = [...plain(open?.option.choices ?? []), ...(taken.length === 0 ? commandsBelow(command) : [])]
  if (argument === undefined) return { candidates: commands }
  if (argument.choices !== undefined) return { candidates: [...commands, ...plain(argument.choices)] }
  const found = await namesFrom(sourceIn(ARGUMENTS, place, argument.name), place, io)
  return { ...found, candidates: [...commands, ...found.candidates] }
}

async function valuesOf(option: OptionData, place: Place, io: Io): Promise<Completions> {
  if (option.choices !== undefined) return { candidates: plain(option.choices) }
  const { long, valueName } = partsOf(option)
  return namesFrom(sourceIn(VALUES, place, `${long} ${valueName}`), place, io)
}

function plain(values: readonly string[]): Candidate[] {
  return values.map((value) => ({ value, meaning: '' }))
}

function commandsBelow({ commands }: CommandData): Candidate[] {
  return commands.map(({ name, summary }) => ({ value: name, meaning: summary }))
}

/** The command's own options come before those of every command; those that were given are not offered again. */
function optionsFor({ options, given, named }: Place, word: string): Candidate[] {
  const left = options.filter((option) => option.isRepeatable === true || !given.has(partsOf(option).long))
  const isLetter = /^-\w?$/.test(word)
  const names = left.flatMap((option) => {
    const { long, short } = partsOf(option)
    const all = isLetter && short !== undefined ? [long, short] : [long]
    return all.map((value) => ({ value, meaning: option.summary }))
  })
  const version = named.length === 0 ? [{ value: '--version', meaning: 'Print the version' }] : []
  return [...names, ...version, { value: '--help', meaning: 'Print help' }]
}

async function helpFor(words: readonly string[]): Promise<Candidate[]> {
  let command: CommandData | undefined = ROOT
  for (const word of words) command &&= await readChild(command, word)
  const commands = command === undefined ? [] : commandsBelow(command)
  return words.length > 0 ? commands : [...commands, ...TOPICS.map(({ topic, meaning }) => ({ value: topic, meaning }))]
}

/** The names that there are right now. None of it is loaded where completion has no need of it. */
async function namesFrom(source: Source | undefined, { given }: Place, io: Io): Promise<Completions> {
  if (source === undefined) return { candidates: [] }
  if (source === 'files' || source === 'dirs') return { candidates: [], more: source }
  if (source === 'scenarios') return { candidates: scenarios(), more: 'files' }
  if (source === 'profiles') return { candidates: await profiles(io) }
  if (source === 'events')
    return { candidates: plain((await import('../../../src/wire/webhook-events.ts')).EventType.options) }
  const { askService } = await import('./ask-service.ts')
  return { candidates: await askService(source, io, given) }
}

function scenarios(): Candidate[] {
  return readdirSync(join(packageRoot(), 'examples', 'scenarios'))
    .filter((file) => file.endsWith('.yaml'))
    .map((file) => ({ value: file.slice(0, -'.yaml'.length), meaning: 'a scenario of svc' }))
}

async function profiles({ env }: Io): Promise<Candidate[]> {
  const [{ configDirOf }, { DEV, readUserConfig }] = await Promise.all([
    import('../../client/auth/config-dir.ts'),
    import('../../client/auth/profiles.ts'),
  ])
  const own = Object.entries(readUserConfig(configDirOf(env)).profiles).map(([value, { api_url, role }]) => ({
    value,
    meaning: [role ?? '', api_url].join(' ').trim(),
  }))
  return [...own, { value: DEV, meaning: 'the running service of the state directory' }]
}
