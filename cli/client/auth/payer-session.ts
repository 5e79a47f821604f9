import { createHash } from 'node:crypto'
import { chmodSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { z } from 'zod'
import type { Operation } from '../../../src/wire/operation.ts'
import { quoted } from '../../base/command-hints.ts'
import type { Client } from '../call.ts'
import { CliError } from '../../base/errors.ts'
import { configDirOf, readIfThere, writeOwnFile } from './config-dir.ts'
import type { Credentials } from './credentials.ts'
import { parsedJson } from '../../base/json.ts'

/** A payer's session in the hub, which lasts 15 minutes and is renewed by nothing. */
const PayerLogin = z.looseObject({
  /** The service that it is of: it is sent to no other. */
  api_url: z.string(),
  /** As the service shows it: `p…@example.org`. */
  contact: z.string(),
  /** Whole, where the payer has typed it; null where the link came from elsewhere. */
  typed_contact: z.string().nullable(),
  session_token: z.string(),
  expires_at: z.iso.datetime(),
})
type PayerLogin = z.infer<typeof PayerLogin>

/** Each service has a file of its own: a payer is signed in to one beside another, and two commands write no file at once. */
function payerFile(env: NodeJS.ProcessEnv, apiUrl: string): string {
  return join(configDirOf(env), `payer-${createHash('sha256').update(apiUrl).digest('hex').slice(0, 16)}.json`)
}

export function readPayerLogin(env: NodeJS.ProcessEnv, apiUrl: string): PayerLogin | undefined {
  const file = payerFile(env, apiUrl)
  const text = readIfThere(file)
  if (text === undefined) return undefined
  if (process.platform !== 'win32') chmodSync(file, 0o600)
  const login = PayerLogin.safeParse(parsedJson(text)).data
  return login?.api_url === apiUrl ? login : undefined
}

export function keepPayerLogin(env: NodeJS.ProcessEnv, login: PayerLogin): void {
  writeOwnFile(payerFile(env, login.api_url), `${JSON.stringify(login, null, 2)}\n`)
}

export function forgetPayerLogin(env: NodeJS.ProcessEnv, apiUrl: string): void {
  rmSync(payerFile(env, apiUrl), { force: true })
}

/**
 * The session that payers' commands act with.
 * @throws {CliError} NOT_SIGNED_IN or SESSION_EXPIRED, exit code 4
 */
export function payerLogin(env: NodeJS.ProcessEnv, apiUrl: string): PayerLogin {
  const login = readPayerLogin(env, apiUrl)
  if (login === undefined) throw new CliError('NOT_SIGNED_IN', 'no payer is signed in', { hint: LINK })
  if (Date.parse(login.expires_at) <= Date.now()) throw sessionOver(login)
  return login
}

/** The same service, called with a payer's session; one that the service refuses has ended, and is forgotten. */
export function asPayer(client: Client, env: NodeJS.ProcessEnv): Client {
  const login = payerLogin(env, client.apiUrl)
  const credentials: Credentials = {
    ...client.credentials,
    async headersFor(operation, http) {
      if (!isPayers(operation)) return client.credentials.headersFor(operation, http)
      return { authorization: `Bearer ${login.session_token}` }
    },
    refresh: async (operation) => isPayers(operation),
    async end(operation) {
      if (!isPayers(operation)) return undefined
      forgetPayerLogin(env, client.apiUrl)
      return sessionOver(login)
    },
  }
  return { ...client, credentials }
}

function isPayers({ access }: Pick<Operation, 'access'>): boolean {
  return access.includes('payer')
}

const LINK = 'with your own address: svc payer link ada@example.org\nthen: svc payer verify'

function sessionOver({ contact, typed_contact: typed }: PayerLogin): CliError {
  return new CliError('SESSION_EXPIRED', `the session of ${contact} has ended`, {
    hint: typed === null ? LINK : `svc payer link ${quoted(typed)}\nthen: svc payer verify`,
  })
}
