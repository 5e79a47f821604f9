import { readdirSync } from 'node:fs'
import { join } from 'node:path'
import { packageRoot } from '../../../src/lib/package-root.ts'
import type { Asked, Candidate } from './candidates.ts'
import type { Position } from './position.ts'
import type { Source } from './sources.ts'

/** The names that there are right now. None of it is loaded where completion has no need of it. */
export async function findNames(
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
  const { METHODS } = await import('../commands/api/method.ts')
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
