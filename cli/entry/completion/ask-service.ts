import { request } from 'undici'
import { chooseCredentials } from '../../client/auth/choose.ts'
import { configDirOf } from '../../client/auth/config-dir.ts'
import { entryKey, readEntries } from '../../client/auth/credentials-file.ts'
import { DEV } from '../../client/auth/profiles.ts'
import { makeClient, proofFor } from '../../client/call.ts'
import type { Client } from '../../client/call.ts'
import { platformUser } from '../../client/operator-name.ts'
import { findService } from '../../client/find-service.ts'
import type { FoundService } from '../../client/find-service.ts'
import type { Io } from '../../base/io.ts'
import { urlOf } from '../../client/build-request.ts'
import { OPERATIONS } from '../commands/api/operations.ts'
import type { Candidate } from './candidates.ts'

// The user waits at the Tab key.
const BUDGET_MS = 300
// A session that could expire meanwhile is not used: there is no time to renew it and write it down.
const FRESH_MS = 60_000

/**
 * The lists of the service: by which operations, of the first that the caller may use, and which members name and
 * describe a row.
 */
const LISTS = {
  payments: { by: ['listPayments'], value: 'payment_id', meaning: ['status', 'gross_amount', 'currency'] },
  mandates: { by: ['listConsents'], value: 'consent_id', meaning: ['status', 'created_at'] },
  disputes: { by: ['listAdminDisputes', 'listDisputes'], value: 'id', meaning: ['status', 'reason', 'trading_name'] },
  deliveries: { by: ['listWebhooks'], value: 'id', meaning: ['status', 'event_type', 'created_at'] },
  merchants: { by: ['listMerchants'], value: 'realm_slug', meaning: ['trading_name', 'kyb_status'] },
  team: { by: ['listTeam'], value: 'email', meaning: ['role'] },
  staff: { by: ['listStaff'], value: 'email', meaning: ['role'] },
  credentials: { by: ['listApiCredentials', 'listStaffClients'], value: 'client_id', meaning: ['role', 'name'] },
  'payout-accounts': { by: ['listBankAccounts'], value: 'id', meaning: ['account_holder_name', 'iban'] },
  mail: { by: ['listMails'], value: 'id', meaning: ['subject', 'recipient'] },
  banks: { by: ['listBanks'], value: 'id', meaning: ['name'] },
  'bank-scenarios': { by: ['listBankScenarios'], value: 'name', meaning: ['summary'] },
} as const

export type ListName = keyof typeof LISTS
type Row = Readonly<Record<string, unknown>>

/** The newest names of a list of the service, asked for as the command would be; an error where they don't come in time. */
export async function askService(name: ListName, io: Io, given: ReadonlyMap<string, string>): Promise<Candidate[]> {
  const { by, value, meaning } = LISTS[name]
  const flags = {
    apiUrl: given.get('--api-url'),
    clientId: given.get('--client-id'),
    profile: given.get('--profile'),
    stateDir: given.get('--state-dir'),
    customer: given.get('--customer'),
  }
  const where = { flags, env: io.env, cwd: io.cwd }
  const found = findService(where)
  if (isStale(found, io.env)) return []
  const credentials = chooseCredentials({ ...where, found, platformUser: platformUser(io) })
  const signal = AbortSignal.timeout(BUDGET_MS)
  const client = { ...makeClient({ apiUrl: found.apiUrl, credentials, timeoutMs: BUDGET_MS }), signal }
  try {
    let rows: readonly Row[] | undefined
    for (const operation of by) rows ??= await rowsOf(client, operation)
    const all = (rows ?? []).map((row) => ({
      value: textOf(row[value]),
      meaning: meaning.flatMap((member) => textOf(row[member]) || []).join(' '),
    }))
    // What begins with a dash would be read as an option.
    return all.filter((each) => !each.value.startsWith('-'))
  } finally {
    await client.close()
  }
}

async function rowsOf(client: Client, name: string): Promise<readonly Row[] | undefined> {
  const operation = OPERATIONS.find((each) => each.name === name)
  const proof = operation && (await proofFor(client, operation).catch(() => undefined))
  if (operation === undefined || proof === undefined) return undefined
  const { statusCode, body } = await request(urlOf(client, operation, {}), {
    headers: { accept: 'application/json', ...proof },
    dispatcher: client.dispatcher,
    ...(client.signal === undefined ? {} : { signal: client.signal }),
  })
  const json = statusCode === 200 ? await body.json() : await body.dump().then(() => undefined)
  const { data } = Object(json)
  return statusCode === 200 ? (Array.isArray(data) ? data : []) : undefined
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

function textOf(value: unknown): string {
  return typeof value === 'string' ? value : ''
}
