import { randomBytes, randomUUID } from 'node:crypto'
import pg from 'pg'
import { Agent, request } from 'undici'
import type { Test } from 'tap'
import { makeApp } from '../../src/app.ts'
import type { App, AppOverrides } from '../../src/app.ts'
import { startApi } from '../../src/api.ts'
import { readConfig } from '../../src/config/read.ts'
import { makeAdminConnection } from '../../src/db/connection.ts'
import { checkMasterKey } from '../../src/keys/check-master-key.ts'
import { jobs } from '../../src/jobs.ts'
import type { Job } from '../../src/jobs.ts'
import { MERCHANT_ROLES } from '../../src/lib/permissions.ts'
import type { MerchantRole, PlatformRole } from '../../src/lib/permissions.ts'
import { PLATFORM_REALM, clientIdsOf } from '../../src/lib/realms.ts'
import { insertMerchant } from '../../src/merchants/sql.ts'
import { generateWebhookSecret, webhookSecretContext } from '../../src/signing/secret.ts'
import { createStaffClient } from '../../src/staff/staff-clients.ts'
import { ensurePlatform } from '../../src/staff/ensure-platform.ts'
import { startWorker } from '../../src/worker.ts'
import { ensureBuilt } from './built.ts'
import { bySocket } from './cluster.ts'
import { testDatabase } from './database.ts'
import { freePort } from './free-port.ts'
import { retryUnavailable } from './retry.ts'
import { pause } from './until.ts'

/** `clientSecret` proves the server client where there is an identity provider. */
export type TestMerchant = { id: string; clientId: string; clientSecret: string; realm: string; secret: string }

/** A merchant of a test; by default APPROVED with the documented fees. */
export type NewTestMerchant = {
  kybStatus?: 'PENDING' | 'APPROVED'
  /** The role of its server client; ADMIN by default. */
  serverRole?: MerchantRole | null
  webhookUrl?: string
  feePercentage?: string
  feeFlat?: string
}

export type TestService = {
  app: App
  url: string
  databaseUrl: string
  /** A connection as the owner of the tables, which bypasses the API. Its statements may take their time on a slow machine. */
  owner: pg.Client
  merchant(input?: NewTestMerchant): Promise<TestMerchant>
  /** The request headers of an operator with this role. */
  operator(role?: PlatformRole): Promise<Record<string, string>>
  /** A request as a client makes it; an object body is sent as JSON. */
  call(method: Method, path: string, options?: CallOptions): Promise<Answer>
}

type Method = 'GET' | 'POST' | 'PUT' | 'DELETE' | 'PATCH'
export type CallOptions = {
  merchant?: TestMerchant
  headers?: Record<string, string>
  body?: unknown
  raw?: string | Buffer
  /** For tests of what happens to a request that waits too long; others are repeated then, as clients do. */
  isOnce?: boolean
}
// Tests look into answers of every shape.
// oxlint-disable-next-line typescript/no-explicit-any
export type Answer = { status: number; headers: Record<string, string | string[] | undefined>; body: any; text: string }

export type ServiceOptions = { worker?: boolean; env?: Record<string, string>; overrides?: AppOverrides }

/**
 * The daily looks at everything would begin with the worker, and find nothing in an empty database, for more CPU than the
 * starts of all other jobs. Retention would remove what tests plant with dates of their own. Their own tests run them.
 */
const NOT_HERE = ['reconcile', 'verify', 'remove-old-records']
export const WORKER_JOBS = jobs.filter(({ name }) => !NOT_HERE.includes(name))

/**
 * These jobs without the run that each of them begins with: in a database that was made for the test it finds nothing, and
 * all of them cost 60 ms of a core. They run when they are woken, and at their cadence.
 */
function withoutFirstRuns(): Job[] {
  return WORKER_JOBS.map((job) => {
    if ('start' in job) return job
    let isFirst = true
    return {
      ...job,
      run: async (app, signal) => {
        if (!isFirst) return job.run(app, signal)
        isFirst = false
        return { more: false }
      },
    }
  })
}

/** The whole service on a database of its own: API, and the worker where it is asked for. Gone at the test's end. */
export async function testService(
  t: Test,
  { worker = false, env = {}, overrides = {} }: ServiceOptions = {},
): Promise<TestService> {
  ensureBuilt('widget')
  const { url: databaseUrl } = await testDatabase(t)
  const config = readConfig({
    SVC_DATABASE_URL: bySocket(databaseUrl),
    SVC_ENCRYPTION_KEY: randomBytes(32).toString('base64'),
    SVC_LOG_LEVEL: process.env['SVC_TEST_LOG'] ?? 'silent',
    SVC_PORT: String(await freePort()),
    SVC_DATABASE_POOL: '4',
    // Five processes of tests share two cores: one that stands still for a second is no database that stands still.
    SVC_DATABASE_TIMEOUT_FACTOR: process.env['SVC_DATABASE_TIMEOUT_FACTOR'] ?? '4',
    SVC_IDENTITY: process.env['SVC_TEST_IDENTITY'] ?? 'none',
    ...env,
  })
  const app = await retryUnavailable(() => makeApp(config, overrides))
  // As every start does: it makes the key of keyed hashes.
  await checkMasterKey(app)
  const api = await startApi(app)
  const running = worker ? startWorker(app, { jobs: withoutFirstRuns() }) : undefined
  const owner = await retryUnavailable(() => makeAdminConnection({ databaseUrl: config.databaseUrl }))
  t.teardown(async () => {
    await api.stop()
    await running?.stop()
    await app.close()
    await owner.end()
  })
  return {
    app,
    url: api.url,
    databaseUrl,
    owner,
    merchant: (input) => addMerchant(app, input),
    operator: (role) => operatorHeaders(app, api.url, role),
    call: async (method, path, options = {}) => {
      const proof = options.merchant === undefined ? {} : await merchantHeaders(app, options.merchant)
      return callWithRetry(api.url + path, method, { ...options, headers: { ...proof, ...options.headers } })
    },
  }
}

const ATTEMPTS_MAX = 5
/** Less than any time that the service waits for a connection, a row or an answer of its database. */
const WAITED_MS = 900

/** Asks again after a time-out in the service, as clients do: a machine that stands still for seconds is no error. */
async function callWithRetry(url: string, method: Method, options: CallOptions): Promise<Answer> {
  for (let attempt = 1; ; attempt += 1) {
    const startedAt = performance.now()
    const answer = await call(url, method, options)
    const isTimeout = answer.body?.code === 'SERVICE_UNAVAILABLE' && performance.now() - startedAt > WAITED_MS
    if (!isTimeout || options.isOnce === true || attempt === ATTEMPTS_MAX) return answer
  }
}

async function addMerchant(app: App, input: NewTestMerchant = {}): Promise<TestMerchant> {
  const id = app.ids.uuid()
  const realm = `m-${randomUUID().slice(0, 8)}`
  const clientId = clientIdsOf(realm).server
  const secret = generateWebhookSecret()
  const clientSecret = app.ids.token()
  const serverRole = input.serverRole === undefined ? 'ADMIN' : input.serverRole
  const insert = (): Promise<boolean> =>
    insertMerchant(app.pool, {
      id,
      clientId,
      legalName: 'Acme Ltd',
      tradingName: 'Acme',
      kybStatus: input.kybStatus ?? 'APPROVED',
      feePercentage: input.feePercentage ?? '0.0100',
      feeFlat: input.feeFlat ?? '0.20',
      webhookUrl: input.webhookUrl ?? null,
      realmSlug: realm,
      webhookSigningSecret: app.sealer.seal(secret, webhookSecretContext(id)),
      serverRole,
      createdBy: 'test',
    })
  await insert()
  await app.identity.createRealm({
    slug: realm,
    kind: 'merchant',
    displayName: 'Acme Ltd',
    registrationId: id,
    service: { clientId, secret: clientSecret, roles: serverRole === null ? [] : [serverRole] },
    roles: MERCHANT_ROLES,
  })
  return { id, clientId, clientSecret, realm, secret }
}

/** The credentials of a merchant's server: a token, or without a provider its client id. */
async function merchantHeaders(
  app: App,
  { realm, clientId, clientSecret }: TestMerchant,
): Promise<Record<string, string>> {
  if (app.identity.kind === 'none') return { 'x-merchant-client-id': clientId }
  return { authorization: `Bearer ${await serviceToken(authUrlOf(app), { realm, clientId, secret: clientSecret })}` }
}

async function operatorHeaders(app: App, url: string, role: PlatformRole = 'OWNER'): Promise<Record<string, string>> {
  if (app.identity.kind === 'none') return { 'x-platform-user': 'ada' }
  await ensurePlatform(app)
  const actor = { id: 'test', name: 'test', role: 'OWNER' }
  const made = await createStaffClient(app, { name: 'test', role, actor })
  const client = { realm: PLATFORM_REALM, clientId: made.client_id, secret: made.client_secret ?? '' }
  return { authorization: `Bearer ${await serviceToken(authUrlOf(app, url), client)}` }
}

/** Where tokens come from: the service itself, where its provider answers there (test/support/in-process-idp.ts does too). */
function authUrlOf({ identity, publicUrl }: App, url = publicUrl): string {
  return identity.handle === undefined ? (identity.authUrl ?? publicUrl) : url
}

const tokens = new Map<string, string>()

/** A token by client_credentials, asked for once. */
export async function serviceToken(
  authUrl: string,
  { realm, clientId, secret }: { realm: string; clientId: string; secret: string },
): Promise<string> {
  const known = tokens.get(`${authUrl} ${clientId} ${secret}`)
  if (known !== undefined) return known
  const { statusCode, body } = await request(`${authUrl}/realms/${realm}/protocol/openid-connect/token`, {
    method: 'POST',
    headers: { 'content-type': 'application/x-www-form-urlencoded' },
    body: new URLSearchParams({
      grant_type: 'client_credentials',
      client_id: clientId,
      client_secret: secret,
    }).toString(),
  })
  const text = await body.text()
  if (statusCode !== 200) throw new Error(`no token for ${clientId}: ${statusCode} ${text}`)
  const token: string = JSON.parse(text).access_token
  tokens.set(`${authUrl} ${clientId} ${secret}`, token)
  return token
}

/** Leaves a connection that was idle for a second, long before the service ends it: a process of tests can stall for seconds. */
const dispatcher = new Agent({ keepAliveMaxTimeout: 1_000 })

async function call(url: string, method: Method, { headers = {}, body, raw }: CallOptions = {}): Promise<Answer> {
  const response = await request(url, {
    dispatcher,
    method,
    headers: {
      ...(body === undefined && raw === undefined ? {} : { 'content-type': 'application/json' }),
      ...headers,
    },
    body: raw ?? (body === undefined ? null : JSON.stringify(body)),
  })
  const text = await response.body.text()
  const json = /json/.test(String(response.headers['content-type']))
  return { status: response.statusCode, headers: response.headers, text, body: json ? JSON.parse(text) : text }
}

/** As clients do: whoever waited too long for a connection or a row, as on a busy machine, is told to ask again. */
export async function askAgain(ask: () => Promise<Answer>): Promise<Answer> {
  for (;;) {
    const answer = await ask()
    if (answer.body?.code !== 'SERVICE_UNAVAILABLE') return answer
  }
}

/** A payment as a merchant creates it. */
export function paymentBody(changes: Record<string, unknown> = {}): Record<string, unknown> {
  return { amount: '50.00', currency: 'GBP', redirect_uri: 'https://shop.example/return', ...changes }
}

/** Creates a payment and returns the response. */
export async function createPayment(
  service: TestService,
  merchant: TestMerchant,
  changes: Record<string, unknown> = {},
  key: string = randomUUID(),
): Promise<Answer> {
  return service.call('POST', '/api/v1/payments', {
    merchant,
    headers: { 'x-idempotency-key': key },
    body: paymentBody(changes),
  })
}

/** The parameters of the bank's redirect back to the shop. */
export type BankReturn = { state: string; code: string } | { state: string; error: string }

/** Presses a button on the bank's page, as the payer's browser would. */
export async function atBank(redirectUrl: string, decision: 'approve' | 'cancel'): Promise<BankReturn> {
  const response = await request(redirectUrl, {
    method: 'POST',
    headers: { 'content-type': 'application/x-www-form-urlencoded' },
    body: `decision=${decision}`,
  })
  await response.body.dump()
  const back = new URL(String(response.headers['location']))
  const state = back.searchParams.get('state') ?? ''
  const code = back.searchParams.get('code')
  return code === null ? { state, error: back.searchParams.get('error') ?? '' } : { state, code }
}

/** Creates a payment and lets the payer authorise it. */
export async function authorisedPayment(
  service: TestService,
  merchant: TestMerchant,
  changes: Record<string, unknown> = {},
): Promise<{ id: string; state: string }> {
  const key = randomUUID()
  const { body } = await askAgain(() => createPayment(service, merchant, changes, key))
  const back = await atBank(body.redirect_url, 'approve')
  await askAgain(() => service.call('POST', `/api/v1/payments/${body.payment_id}/sca-complete`, { body: back }))
  return { id: body.payment_id, state: back.state }
}

/** Calls `look` until it gives something, for at most `ms`. */
export async function until<T>(look: () => Promise<T | undefined | false>, ms = 120_000): Promise<T> {
  const startedAt = performance.now()
  for (;;) {
    // The last look begins after the time: one that was held up on its way shows what was before.
    const lookedAt = performance.now()
    const found = await look()
    if (found !== undefined && found !== false) return found
    if (lookedAt - startedAt > ms) throw new Error(`not reached within ${ms} ms`)
    await pause(startedAt)
  }
}

/** Waits until a payment is in a state, and answers it. */
export async function untilStatus(
  service: TestService,
  merchant: TestMerchant,
  id: string,
  status: string,
): Promise<Answer['body']> {
  return until(async () => {
    const { body } = await service.call('GET', `/api/v1/payments/${id}`, { merchant })
    return body.status === status ? body : undefined
  })
}
