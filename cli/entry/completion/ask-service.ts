import { request } from 'undici'
import type { Operation } from '../../../src/wire/operation.ts'
import { chooseCredentials } from '../../client/auth/choose.ts'
import { configDirOf } from '../../client/auth/config-dir.ts'
import { entryKey, readEntries } from '../../client/auth/credentials-file.ts'
import { DEV } from '../../client/auth/profiles.ts'
import { CliError } from '../../base/errors.ts'
import { makeClient, proofFor } from '../../client/call.ts'
import type { Client } from '../../client/call.ts'
import { platformUser } from '../../client/operator-name.ts'
import { findService } from '../../client/find-service.ts'
import type { FindOptions, FoundService } from '../../client/find-service.ts'
import type { Io } from '../../base/io.ts'
import { urlOf } from '../../client/build-request.ts'
import type { Candidate } from './candidates.ts'
import { LISTS } from './sources.ts'
import type { NamedList, ServiceList } from './sources.ts'

// Whoever pressed Tab waits for it.
const BUDGET_MS = 300
// A session that could expire meanwhile is not used: renewing it is not ours, as nobody may wait for it to be written down.
const FRESH_MS = 60_000

type Given = { io: Io; given: ReadonlyMap<string, string> }

/** The newest names of a list of the service, asked for as the command would be; an error where they don't come in time. */
export async function askService(name: ServiceList, { io, given }: Given): Promise<Candidate[]> {
  const list = LISTS[name]
  const where: FindOptions = { flags: flagsOf(given), env: io.env, cwd: io.cwd }
  const found = findService(where)
  if (isStale(found, io.env)) return []
  const credentials = chooseCredentials({ ...where, found, platformUser: platformUser(io) })
  const client = {
    ...makeClient({ apiUrl: found.apiUrl, credentials, timeoutMs: BUDGET_MS }),
    signal: AbortSignal.timeout(BUDGET_MS),
  }
  try {
    const own = list.otherwise === undefined ? undefined : LISTS[list.otherwise]
    const rows = (await rowsOf(client, list)) ?? (own === undefined ? undefined : await rowsOf(client, own)) ?? []
    // What begins with a dash would be read as an option.
    const { statuses } = list
    const taken = rows.filter((row) => statuses === undefined || statuses.includes(textOf(row['status'])))
    return taken.map((row) => candidateOf(row, list)).filter(({ value }) => !value.startsWith('-'))
  } finally {
    await client.close()
  }
}

/** The rows of a list; undefined where this caller may not read it. */
async function rowsOf(client: Client, list: NamedList): Promise<Readonly<Record<string, unknown>>[] | undefined> {
  const operation = await list.operation()
  const proof = await proofFor(client, operation).catch((error: unknown) => {
    if (error instanceof CliError && error.code === 'NOT_SIGNED_IN') return undefined
    throw error
  })
  if (proof === undefined) return undefined
  const { dispatcher, signal } = client
  const { statusCode, body } = await request(urlOf(client, operation as Operation, { query: { ...list.query } }), {
    headers: { accept: 'application/json', ...proof },
    dispatcher,
    ...(signal === undefined ? {} : { signal }),
  })
  if (statusCode === 200) return rowsIn(await body.json())
  await body.dump()
  return undefined
}

function candidateOf(row: Readonly<Record<string, unknown>>, { value, meaning }: NamedList): Candidate {
  const told = meaning.map((member) => textOf(row[member])).filter((text) => text !== '')
  return { value: textOf(row[value]), meaning: told.join(' ') }
}

function flagsOf(given: ReadonlyMap<string, string>): FindOptions['flags'] {
  return {
    apiUrl: given.get('--api-url'),
    clientId: given.get('--client-id'),
    profile: given.get('--profile'),
    stateDir: given.get('--state-dir'),
    customer: given.get('--customer'),
  }
}

function isStale({ profile, state }: FoundService, env: NodeJS.ProcessEnv): boolean {
  const entries = readEntries(configDirOf(env))
  const kinds = ['merchant', 'platform', 'customer'] as const
  const keys = kinds.map((kind) => entryKey({ name: profile?.name ?? DEV, kind, stateDir: state?.state_dir ?? '' }))
  return keys.some((key) => {
    const entry = entries[key]
    if (entry?.type !== 'session' || entry.expires_at === null) return false
    return Date.parse(entry.expires_at) - FRESH_MS < Date.now()
  })
}

function rowsIn(body: unknown): Readonly<Record<string, unknown>>[] {
  const { data } = Object(body) as { data?: unknown }
  return Array.isArray(data) ? data : []
}

function textOf(value: unknown): string {
  return typeof value === 'string' ? value : ''
}
