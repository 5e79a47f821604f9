import { randomInt, randomUUID } from 'node:crypto'
import { PLATFORM_ROLES } from '../../src/lib/permissions.ts'
import { sendPayerLinks } from '../../src/payers/send-links.ts'
import { encoded, makeKeyPair, signed } from '../support/in-process-idp.ts'
import { createPayment, serviceToken } from '../support/app.ts'
import type { TestMerchant, TestService } from '../support/app.ts'
import { plainToken, signedToken, startPayment } from '../support/checkout.ts'
import { bankCustomer, payerSession } from '../support/dry-run-requests.ts'

/** Who sends a request; `tenant` is the merchant whose things it may see. */
export type Caller = {
  name: string
  kind: 'merchant' | 'platform' | 'customer' | 'payer' | 'payment-state' | 'checkout-token' | 'none' | 'forged'
  headers: Record<string, string>
  tenant?: string
}

/** What must never be in a response, a header or a log line, and the operations that exist to show it. */
export type Secrets = Map<string, ReadonlySet<string>>

/** An id, and a caller that has seen it. */
export type Known = { id: string; caller: Caller }

export type World = {
  service: TestService
  callers: Caller[]
  secrets: Secrets
  /** Ids that responses have shown, and to whom, by the first words of the operation's path. */
  ids: Map<string, Known[]>
  /** The merchant that a UUID was first shown to. */
  owners: Map<string, string>
  /** The UUIDs that a merchant's callers have sent, by the merchant. */
  named: Map<string, Set<string>>
  /** New callers of new merchants: a run ends credentials, roles and merchants as well. */
  renew(): Promise<void>
}

const NOWHERE: ReadonlySet<string> = new Set()

export async function makeWorld(service: TestService): Promise<World> {
  const world: World = {
    service,
    callers: [],
    secrets: new Map(),
    ids: new Map(),
    owners: new Map(),
    named: new Map(),
    renew: async () => {
      world.callers = await makeCallers(world)
    },
  }
  const { encryptionKey, databaseUrl } = service.app.config
  for (const secret of [Buffer.from(encryptionKey).toString('base64'), databaseUrl]) hide(world, secret)
  await world.renew()
  return world
}

/** Takes note of a secret that no operation shows, or only these. */
export function hide({ secrets }: Pick<World, 'secrets'>, secret: string, shownBy: readonly string[] = []): void {
  if (secret.length >= 8 && !secrets.has(secret)) secrets.set(secret, shownBy.length === 0 ? NOWHERE : new Set(shownBy))
}

const WEBHOOK_SECRET_SHOWN = ['getWebhookSecret', 'rotateWebhookSecret', 'endSecretOverlap']

async function makeCallers(world: World): Promise<Caller[]> {
  const { service } = world
  const [own, other] = [await service.merchant(), await service.merchant()]
  for (const { secret, clientSecret } of [own, other]) {
    hide(world, secret, WEBHOOK_SECRET_SHOWN)
    hide(world, clientSecret)
  }
  const admin = await bearerOf(service, own)
  await entrust(world, own, admin)
  const callers: Caller[] = [
    { name: 'ADMIN', kind: 'merchant', headers: admin, tenant: own.id },
    { name: 'ADMIN of another', kind: 'merchant', headers: await bearerOf(service, other), tenant: other.id },
  ]
  for (const role of ['DEVELOPER', 'FINANCE', undefined] as const) {
    const body = { name: role ?? 'till', ...(role === undefined ? {} : { role }) }
    const { body: made } = await service.call('POST', '/api/v1/portal/api-credentials', { headers: admin, body })
    hide(world, made.client_secret)
    const credential = { realm: own.realm, clientId: made.client_id, clientSecret: made.client_secret }
    callers.push({
      name: role ?? 'NONE',
      kind: 'merchant',
      headers: await bearerOf(service, credential),
      tenant: own.id,
    })
  }
  for (const role of PLATFORM_ROLES)
    callers.push({ name: role, kind: 'platform', headers: await service.operator(role) })
  const operator = await service.operator('OWNER')
  for (const name of ['a customer', 'another customer']) {
    const { headers } = await bankCustomer({ service, merchant: own, operator })
    callers.push({ name, kind: 'customer', headers })
  }
  callers.push(...(await payersOf(world, { own, operator })), ...(await forgedOf(admin['authorization'] ?? '')))
  for (const { headers, kind } of callers)
    if (kind !== 'forged')
      for (const text of Object.values(headers)) hide(world, text.replace(/^Bearer /, ''), SHOWS_STATE)
  return callers
}

/** What a payer and a merchant entrust to the service: known to no reader of responses, errors or logs. */
async function entrust(world: World, own: TestMerchant, admin: Record<string, string>): Promise<void> {
  const digits = (count: number): string => Array.from({ length: count }, () => randomInt(1, 10)).join('')
  const [name, phone, payerAccount, ownAccount] = [`canary${digits(8)}`, `+4479${digits(8)}`, digits(14), digits(8)]
  for (const changes of [
    { payer_email: `${name}@payer.example` },
    { payer_phone: phone },
    { debtor_account_scheme: 'UK.OBIE.SortCodeAccountNumber', debtor_identification: payerAccount },
  ]) {
    const { status, text } = await createPayment(world.service, own, changes)
    if (status !== 201) throw new Error(text)
  }
  const { status, text } = await world.service.call('POST', '/api/v1/portal/bank-accounts', {
    headers: admin,
    body: { account_holder_name: 'Acme Ltd', sort_code: '20-00-00', account_number: ownAccount },
  })
  if (status !== 201) throw new Error(text)
  for (const secret of [name, phone, phone.slice(1), payerAccount, payerAccount.slice(6), ownAccount])
    hide(world, secret)
}

/** The state of a payment is a part of the address of its bank, and is given to whoever began it. */
const SHOWS_STATE = ['createPayment']

async function bearerOf(
  { app }: TestService,
  { realm, clientId, clientSecret: secret }: Pick<TestMerchant, 'realm' | 'clientId' | 'clientSecret'>,
): Promise<Record<string, string>> {
  return { authorization: `Bearer ${await serviceToken(app.publicUrl, { realm, clientId, secret })}` }
}

async function payersOf(
  world: World,
  { own, operator }: { own: TestMerchant; operator: Record<string, string> },
): Promise<Caller[]> {
  const { service } = world
  const merchant = { ...own }
  await createPayment(service, merchant, { payer_email: 'ada@payer.example' })
  const session = await payerSession({ service, merchant, operator })
  await sendPayerLinks(service.app, new AbortController().signal)
  const { body } = await startPayment(service, signedToken(service, own))
  return [
    { name: 'a payer', kind: 'payer', headers: session },
    { name: 'a payer at a bank', kind: 'payment-state', headers: { 'x-payment-state': body.payment_state } },
    { name: 'a browser', kind: 'checkout-token', headers: { 'x-checkout-token': plainToken(service, own) } },
    { name: 'a signed browser', kind: 'checkout-token', headers: { 'x-checkout-token': signedToken(service, own) } },
    { name: 'nobody', kind: 'none', headers: {} },
  ]
}

/** What looks like the credentials of an administrator, and is not. */
async function forgedOf(bearer: string): Promise<Caller[]> {
  const token = bearer.replace('Bearer ', '')
  const [head = '', body = '', signature = ''] = token.split('.')
  const claims = JSON.parse(Buffer.from(body, 'base64url').toString()) as Record<string, unknown>
  const key = await makeKeyPair()
  const { kid } = JSON.parse(Buffer.from(head, 'base64url').toString()) as { kid: string }
  const other = encoded({ ...claims, azp: randomUUID() })
  const forged: Record<string, string> = {
    'no algorithm': `Bearer ${encoded({ alg: 'none', kid })}.${body}.`,
    'another key': `Bearer ${signed({ alg: 'PS256', kid, typ: 'JWT' }, claims, key)}`,
    'a symmetric key': `Bearer ${signed({ alg: 'HS256', kid }, claims, key)}`,
    'other claims': `Bearer ${head}.${other}.${signature}`,
    'no signature': `Bearer ${head}.${body}`,
    'a part': `Bearer ${token.slice(0, 40)}`,
    'a key of its own': `Bearer ${signed({ alg: 'PS256', jwk: key.publicKey.export({ format: 'jwk' }) }, claims, key)}`,
    'an expired token': `Bearer ${signed({ alg: 'PS256', kid }, { ...claims, exp: 1 }, key)}`,
    'huge claims': `Bearer ${encoded({ alg: 'PS256', kid })}.${encoded({ ...claims, x: 'x'.repeat(6_000) })}.x`,
    'claims of other types': `Bearer ${encoded({ alg: 1, kid: [] })}.${encoded({ azp: {}, iss: 0, exp: 'x' })}.x`,
    'no token': 'Bearer ',
    'no base64': 'Bearer !!!.###.$$$',
    basic: `Basic ${Buffer.from('admin:admin').toString('base64')}`,
    'two tokens': `${bearer}, ${bearer}`,
  }
  return Object.entries(forged).map(([name, authorization]) => ({ name, kind: 'forged', headers: { authorization } }))
}
