import { chmodSync, mkdirSync, statSync } from 'node:fs'
import { dirname, join } from 'node:path'
import type { DatabaseSync } from 'node:sqlite'
import { setTimeout as delay } from 'node:timers/promises'
import { z } from 'zod'
import { CliError } from '../../base/errors.ts'
import { isMissing, readIfThere, unusable, writeOwnFile } from './config-dir.ts'
import { DEV, ProfileKind } from './profiles.ts'
import { parsedJson } from '../../base/json.ts'

const Owner = {
  /** The service it was made for: it is sent to no other. */
  api_url: z.string(),
  auth_url: z.string(),
  realm: z.string(),
  client_id: z.string(),
}

export const Session = z.looseObject({
  type: z.literal('session'),
  ...Owner,
  access_token: z.string(),
  /** Of the access token. */
  expires_at: z.iso.datetime().nullable(),
  /** null where nothing renews it, or where it has been refused. */
  refresh_token: z.string().nullable(),
  name: z.string().optional(),
  role: z.string().optional(),
})
export type Session = z.infer<typeof Session>

const ClientEntry = z.looseObject({ type: z.literal('client'), ...Owner, client_secret: z.string() })

export const Pending = z.looseObject({
  type: z.literal('pending'),
  ...Owner,
  /** What it signs in to, and the profile that it is for. */
  target: z.object({
    apiUrl: z.string(),
    authUrl: z.string(),
    mode: z.enum(['sandbox', 'live']),
    realm: z.string(),
    kind: ProfileKind,
    clientId: z.string(),
    profile: z.string(),
    key: z.string(),
    isNew: z.boolean(),
  }),
  device_code: z.string(),
  /** Of the challenge that the code was asked for with; none where it was before this was kept. */
  verifier: z.string().default(''),
  interval: z.number(),
  expires_at: z.iso.datetime(),
})
export type Pending = z.infer<typeof Pending>

const Entry = z.discriminatedUnion('type', [Session, ClientEntry, Pending])
export type Entry = z.infer<typeof Entry>

const Entries = z.record(z.string(), Entry)
export type Entries = z.infer<typeof Entries>

const CredentialsFile = z.looseObject({ version: z.literal(1), entries: Entries })

/** Where a profile's proof stands. The built-in profile has one for each kind, for each state directory. */
export function entryKey(profile: { name: string; kind: ProfileKind; stateDir: string }): string {
  return profile.name === DEV ? `${DEV}:${profile.kind}:${profile.stateDir}` : profile.name
}

export function isOfDev(key: string): boolean {
  return key.startsWith(`${DEV}:`)
}

export function pendingKey(key: string): string {
  return `pending:${key}`
}

function credentialsFile(configDir: string): string {
  return join(configDir, 'credentials.json')
}

/** All that is kept; nothing where there is no file. One that others can read is closed to them first. */
export function readEntries(configDir: string): Entries {
  const file = credentialsFile(configDir)
  closeToOthers(file)
  const text = readIfThere(file)
  if (text === undefined) return {}
  const { data } = CredentialsFile.safeParse(parsedJson(text))
  if (data !== undefined) return data.entries
  throw new CliError('CREDENTIALS_DAMAGED', `${file} can't be read as this version's`, {
    hint: `remove ${file}, and sign in again with svc login`,
  })
}

function closeToOthers(file: string): void {
  if (process.platform === 'win32') return
  try {
    if ((statSync(file).mode & 0o077) !== 0) chmodSync(file, 0o600)
  } catch (error) {
    if (isMissing(error)) return
    throw new CliError('CREDENTIALS_OPEN', `${file} can be read by others, and can't be closed to them`, {
      hint: `chmod 600 ${file}, as its owner`,
      cause: error,
    })
  }
}

/**
 * Changes what is kept, alone among all processes: what `change` is given is what is there now, and what it returns is
 * written before anyone else may look. It may take as long as a request.
 */
export async function updateEntries(
  configDir: string,
  change: (entries: Entries) => Promise<Entries>,
): Promise<Entries> {
  const release = await lock(configDir)
  try {
    const before = readEntries(configDir)
    const after = await change(before)
    if (after !== before) writeEntries(configDir, after)
    return after
  } finally {
    release()
  }
}

function writeEntries(configDir: string, entries: Entries): void {
  writeOwnFile(credentialsFile(configDir), `${JSON.stringify({ version: 1, entries }, null, 2)}\n`)
}

const LOCK_PATIENCE_MS = 60_000
const LOCK_POLL_MS = 40
// SQLite's result code for a lock that another connection holds.
const SQLITE_BUSY = 5

/** The lock is the operating system's, by way of SQLite: it can't outlive its process, however that ends. */
async function lock(configDir: string): Promise<() => void> {
  const file = join(configDir, 'credentials.lock')
  const { DatabaseSync } = await import('node:sqlite')
  const deadline = performance.now() + LOCK_PATIENCE_MS
  for (;;) {
    const release = tryLock(file, DatabaseSync)
    if (release !== undefined) return release
    if (performance.now() > deadline) throw unusable(file, new Error('another svc holds it'))
    await delay(LOCK_POLL_MS)
  }
}

function tryLock(file: string, Database: typeof DatabaseSync): (() => void) | undefined {
  let held: DatabaseSync | undefined
  try {
    mkdirSync(dirname(file), { recursive: true, mode: 0o700 })
    held = new Database(file)
    held.exec('begin exclusive')
    return () => held?.close()
  } catch (error) {
    held?.close()
    if (error instanceof Error && 'errcode' in error && error.errcode === SQLITE_BUSY) return undefined
    throw unusable(file, error)
  }
}
