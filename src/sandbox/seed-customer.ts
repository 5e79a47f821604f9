import { DEMO_CUSTOMER } from '../accounts/our-bank.ts'
import { bookTransfer } from '../accounts/transfer-sql.ts'
import type { App } from '../app.ts'
import { findLastAction } from '../audit/sql.ts'
import { recordAction } from '../audit/record-action.ts'
import { setClientSecret } from '../identity/service-clients.ts'
import { UserExistsError } from '../identity/provider.ts'
import { deriveKey } from '../lib/derive-key.ts'
import { londonDayOf } from '../lib/london-time.ts'
import { CUSTOMERS_REALM, credentialIdOf } from '../lib/realms.ts'
import { seededRandom, seededUuid } from '../lib/seeded-random.ts'
import { findCustomerIds } from './bank-seed-sql.ts'
import { periodBefore } from './bank-seed/history.ts'
import { livingOf, savingsOf } from './bank-seed/people.ts'
import type { SeedPerson } from './bank-seed/people.ts'
import { insertClient } from './customers-sql.ts'
import { withSeedingLock, bookAll, historiesOf, writePerson } from './seed-sandbox.ts'
import { isPasswordSeeded } from './seeded-password.ts'

export type DemoCustomer = {
  /** The external id: the `sub` of its tokens, and without an identity provider X-Customer-Id. */
  id: string
  name: string
  /** A proxy of the customer, and with an identity provider the login. */
  email: string
  /** Null without an identity provider, as are the client and the realm. */
  password: string | null
  client_id: string | null
  client_secret: string | null
  realm: string | null
  /** The current account. */
  account_id: string
}

type DemoApp = Pick<App, 'pool' | 'ids' | 'identity' | 'config' | 'sealer'>

const ACTOR = { id: 'svc up', name: 'svc up', role: 'NONE' }
const DAYS = 30
/** The balance of the current account after the history: 1,250.00. */
const BALANCE = 125_000n
const CLIENT_ID = credentialIdOf(CUSTOMERS_REALM, 'demo0001')

/**
 * Ensures that the sandbox has a demo customer, with two accounts and a month of history. With an identity provider it
 * has a user and a service client; their secrets are derived from the master key, so that every process and every
 * repetition gets the same ones. The customers' realm must exist (staff/ensure-platform.ts).
 * @throws in live mode
 */
export async function ensureDemoCustomer(app: DemoApp): Promise<DemoCustomer> {
  if (app.config.mode !== 'sandbox') throw new Error('the demo customer is for the sandbox alone')
  const person = demoPerson()
  const { id, name, email, current } = person
  if (!(await findCustomerIds(app.pool, [id])).has(id)) await writeDemo(app, person)
  const customer = { id: DEMO_CUSTOMER, name, email, account_id: current.id }
  if (app.identity.kind === 'none')
    return { ...customer, password: null, client_id: null, client_secret: null, realm: null }
  const secret = deriveKey(app.config.encryptionKey, 'demo customer client').toString('base64url')
  const password = deriveKey(app.config.encryptionKey, 'demo customer password').toString('base64url').slice(0, 20)
  await insertClient(app.pool, { customerId: id, clientId: CLIENT_ID })
  await setClientSecret(app.identity, CUSTOMERS_REALM, { clientId: CLIENT_ID, secret, roles: [] })
  await setPasswordOnce(app, { userId: await ensureUser(app, person), password })
  return { ...customer, password, client_id: CLIENT_ID, client_secret: secret, realm: CUSTOMERS_REALM }
}

function demoPerson(): SeedPerson {
  const key = 'svc demo customer'
  return {
    key,
    id: seededUuid(key),
    externalId: DEMO_CUSTOMER,
    name: 'Grace Demo',
    email: 'grace@demo.example',
    mobile: '+447700900042',
    proxyId: 'grace-demo',
    ...livingOf(seededRandom(key)),
    current: {
      id: seededUuid(`${key} current account`),
      subType: 'CurrentAccount',
      nickname: 'Everyday',
      overdraft: 25_000n,
      opening: BALANCE,
    },
    savings: savingsOf(key, 4_800),
  }
}

/** Creates the customer with its accounts and history, unless another process has done so in the meantime. */
async function writeDemo(app: DemoApp, person: SeedPerson): Promise<void> {
  const period = periodBefore(londonDayOf(new Date()), DAYS)
  const { transfers, balances } = await historiesOf([person], period)
  await withSeedingLock(app, async (tx) => {
    if ((await findCustomerIds(tx, [person.id])).has(person.id)) return
    await writePerson(tx, person, period)
    await bookAll(tx, transfers)
    const surplus = (balances.get(person.current.id) ?? 0n) - BALANCE
    if (surplus !== 0n) await evenOut(tx, person, surplus)
    const after = { customer_id: DEMO_CUSTOMER }
    await recordAction(app, tx, {
      actor: ACTOR,
      action: 'customer.seed',
      merchantId: null,
      subjectId: person.id,
      after,
    })
  })
}

/** Brings the current account to its documented balance, by a transfer to or from the savings account. */
async function evenOut(
  tx: Parameters<typeof bookTransfer>[0],
  { key, name, current, savings }: SeedPerson,
  surplus: bigint,
): Promise<void> {
  const [from, to] = surplus > 0n ? [current, savings] : [savings, current]
  const outcome = await bookTransfer(tx, {
    id: seededUuid(`${key} evens out`),
    debtorAccountId: from?.id ?? null,
    creditorAccountId: to?.id ?? null,
    amountMinor: surplus > 0n ? surplus : -surplus,
    currency: 'GBP',
    debtorName: name,
    creditorName: name,
    reference: 'RAINY DAY',
  })
  if (outcome !== 'BOOKED') throw new Error(`the demo customer's accounts were not evened out: ${outcome}`)
}

/** Finds or creates the demo customer's user; another process may create it first. */
async function ensureUser({ identity }: DemoApp, { name, email }: SeedPerson): Promise<string> {
  const known = await identity.findUser(CUSTOMERS_REALM, email)
  if (known !== null) return known
  try {
    return await identity.createUser(CUSTOMERS_REALM, { email, displayName: name, roles: [], subject: DEMO_CUSTOMER })
  } catch (error) {
    const made = error instanceof UserExistsError ? await identity.findUser(CUSTOMERS_REALM, email) : null
    if (made === null) throw error
    return made
  }
}

/**
 * A password that its owner has changed is left alone; one that was set for another database, or derived from another
 * master key, is replaced, because it is not the one that we print.
 */
async function setPasswordOnce(
  app: DemoApp,
  { userId, password }: { userId: string; password: string },
): Promise<void> {
  const action = 'customer.seed_password'
  const last = await findLastAction(app.pool, { action })
  if (isPasswordSeeded(app, last, userId) && (await app.identity.hasPassword(CUSTOMERS_REALM, userId))) return
  await app.identity.setPassword(CUSTOMERS_REALM, userId, password)
  const after = { key_id: app.sealer.kid }
  await recordAction(app, app.pool, { actor: ACTOR, action, merchantId: null, subjectId: userId, after })
}
