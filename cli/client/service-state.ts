import { randomUUID } from 'node:crypto'
import { readFileSync, renameSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { z } from 'zod'
import { codeOf } from '../base/errors.ts'

const DemoMerchant = z.looseObject({
  id: z.string(),
  client_id: z.string(),
  /** Of client_id, an ADMIN. */
  client_secret: z.string().nullable().default(null),
  realm: z.string().default('demo'),
  webhook_secret: z.string(),
  /** Its administrator, who signs in with these. */
  email: z.string().nullable().default(null),
  password: z.string().nullable().default(null),
})

const DemoOperator = z.looseObject({
  realm: z.string(),
  client_id: z.string(),
  client_secret: z.string(),
  role: z.literal('OWNER'),
  email: z.string(),
  password: z.string(),
})

/** The demo customer of the bank. What needs an identity provider is null without one. */
const DemoCustomer = z.looseObject({
  /** The `sub` of its tokens; without an identity provider what X-Customer-Id takes. */
  id: z.string(),
  name: z.string().optional(),
  email: z.string().optional(),
  password: z.string().nullish(),
  client_id: z.string().nullish(),
  client_secret: z.string().nullish(),
  realm: z.string().nullish(),
  account_id: z.string().optional(),
})

/**
 * A running service, as `svc up --json` prints it and as <state-dir>/svc.json holds it (mode 0600: it carries the
 * database's password and the logins of the demo merchant, operator and customer). Other commands find the service by this file.
 */
export const ServiceState = z.looseObject({
  api_url: z.url({ protocol: /^https?$/ }),
  /** Issuers are {auth_url}/realms/<realm>; null without an identity provider. */
  auth_url: z.url().nullable(),
  demo_url: z.url(),
  database_url: z.string(),
  /** Absolute. */
  state_dir: z.string(),
  pid: z.int().positive(),
  /** The id of the master key that it seals under; older files lack it. */
  key_id: z.string().optional(),
  merchant: DemoMerchant,
  /** Null without an identity provider. */
  operator: DemoOperator.nullable(),
  /** Older files lack it. */
  customer: DemoCustomer.nullable(),
  /** The bank of `svc up --bank model`. */
  model_bank: z.looseObject({ issuer: z.url(), control_url: z.url() }).optional(),
})
export type ServiceState = z.infer<typeof ServiceState>

export function serviceFile(stateDir: string): string {
  return join(stateDir, 'svc.json')
}

/** The state directory of this command: flag, then SVC_STATE_DIR, then .svc in the current directory. Absolute. */
export function stateDirOf(options: { flag: string | undefined; env: NodeJS.ProcessEnv; cwd: string }): string {
  return resolve(options.cwd, options.flag ?? (options.env['SVC_STATE_DIR'] || '.svc'))
}

/** What the file says, running or not; undefined when there is none, or none that can be read as one. */
export function readServiceState(stateDir: string): ServiceState | undefined {
  try {
    return ServiceState.parse(JSON.parse(readFileSync(serviceFile(stateDir), 'utf8')))
  } catch {
    return undefined
  }
}

/** Writes the file in one step: a reader sees all of it or none. */
export function writeServiceState(stateDir: string, state: ServiceState, mode = 0o600): void {
  const draft = join(stateDir, `.svc.json.${randomUUID()}`)
  try {
    writeFileSync(draft, `${JSON.stringify(state, null, 2)}\n`, { mode, flag: 'wx' })
    renameSync(draft, serviceFile(stateDir))
  } finally {
    rmSync(draft, { force: true })
  }
}

/** The file where it is about this service, and about the merchant that its caller acts for; undefined elsewhere. */
export function stateOfMerchant(
  stateDir: string,
  {
    apiUrl,
    merchant,
  }: { apiUrl: string; merchant: { realm: string | undefined; clientId: string | undefined } | undefined },
): ServiceState | undefined {
  const state = readServiceState(stateDir)
  if (state === undefined || merchant === undefined || state.api_url !== apiUrl) return undefined
  const { realm, client_id: clientId } = state.merchant
  // People and credentials of the same merchant have clients of their own, in one realm.
  const isIts = merchant.realm === undefined ? merchant.clientId === clientId : merchant.realm === realm
  return isIts ? state : undefined
}

/** Puts the merchant's new signing secret into the file, and leaves all else, also who may read it, as it is. */
export function keepWebhookSecret(stateDir: string, state: ServiceState, secret: string): void {
  const mode = statSync(serviceFile(stateDir)).mode & 0o777
  writeServiceState(stateDir, { ...state, merchant: { ...state.merchant, webhook_secret: secret } }, mode)
}

/** Removes the file, but only the one of this process: another service may have begun here since. */
export function removeServiceState(stateDir: string, pid: number): void {
  if (readServiceState(stateDir)?.pid === pid) rmSync(serviceFile(stateDir), { force: true })
}

/**
 * Whether a process runs. One that has ended and that its parent has not asked about yet (a zombie, common in
 * containers whose first process does not collect its children) does not.
 */
export function isRunning(pid: number): boolean {
  try {
    process.kill(pid, 0)
  } catch (error) {
    return codeOf(error) === 'EPERM'
  }
  return !isZombie(pid)
}

function isZombie(pid: number): boolean {
  if (process.platform !== 'linux') return false
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, 'utf8')
    // The name before it is in brackets and may hold any character.
    return stat.slice(stat.lastIndexOf(')') + 2).startsWith('Z')
  } catch {
    return false
  }
}
