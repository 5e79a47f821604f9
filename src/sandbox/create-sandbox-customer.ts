import { ACCOUNT_NUMBER_COUNT } from '../accounts/account-number.ts'
import { openAccount } from '../accounts/open-account.ts'
import type { DatabaseTransactionConnection } from 'slonik'
import { bookTransfer } from '../accounts/transfer-sql.ts'
import type { App } from '../app.ts'
import type { Actor } from '../audit/record.ts'
import { recordAction } from '../audit/record-action.ts'
import { newClientId, newClientSecret } from '../identity/service-clients.ts'
import { DomainError } from '../lib/errors.ts'
import type { Ids } from '../lib/ids.ts'
import { toMinorUnits } from '../lib/minor-units.ts'
import { CUSTOMERS_REALM, issuerOf } from '../lib/realms.ts'
import type { NewAccount, NewCustomer, SandboxCustomer } from '../wire/sandbox-bank.ts'
import { customerViews } from './customer-view.ts'
import { insertClient, insertCustomer, insertProxy, listCustomers, updateAccount } from './customers-sql.ts'
import type { Proxy } from './customers-sql.ts'
import { idsForNames, idsForReference } from './reproducible-ids.ts'

/** Where the customer's money comes from. */
const OPENING = 'Opening balance'

type NewCustomerIds = { id: string; externalId: string; clientId: string | null; proxies: readonly Proxy[] }

/**
 * Makes a customer of the bank with accounts and money (decision 60), and with an identity provider a client that acts
 * as this customer, so that nothing else is needed to call Surface A.
 * @param input `actor` is who asked for it
 * @throws {DomainError} PROXY_TAKEN
 * @throws {IdentityUnavailableError}
 */
export async function createSandboxCustomer(
  app: App,
  { actor, ...wish }: NewCustomer & { actor: Actor },
): Promise<SandboxCustomer> {
  const isTaken = async (taken: string): Promise<boolean> => (await listCustomers(app.pool, [taken])).length > 0
  const { id, chance } = await idsForReference(app, { kind: 'customer', reference: wish.reference, isTaken })
  const externalId = `customer-${id.slice(-12)}`
  const { authUrl } = app.identity
  const clientId =
    app.identity.kind === 'none' ? null : newClientId(CUSTOMERS_REALM, belowOf(idsForNames(app, chance.for('client'))))
  const newcomer = { id, externalId, clientId, proxies: proxiesOf(wish, externalId) }
  const secret = await withClient(app, clientId, () =>
    app.pool.transaction((tx) => writeCustomer(app, tx, { actor, wish, newcomer, chance })),
  )
  const [view] = await customerViews(app.pool, [id])
  if (view === undefined) throw new Error('a customer that was made is not there')
  return { ...view, client_secret: secret, issuer: authUrl === null ? null : issuerOf(authUrl, CUSTOMERS_REALM) }
}

/** Whole numbers below another one. */
function belowOf(ids: Ids): (size: number) => number {
  return (size) => Math.floor(ids.random() * size)
}

/** In their normal forms, and in one order, so that two customers who want the same ones wait for each other in a row. */
function proxiesOf({ email, mobile, proxy_id: proxyId }: NewCustomer, externalId: string): Proxy[] {
  const wanted: Proxy[] = [{ kind: 'EMAIL', value: (email ?? `${externalId}@example.org`).toLowerCase() }]
  if (mobile !== undefined) wanted.push({ kind: 'MOBILE', value: mobile })
  if (proxyId !== undefined) wanted.push({ kind: 'PROXY', value: proxyId })
  return wanted.toSorted((one, other) => (one.value < other.value ? -1 : 1))
}

/**
 * Makes the client, and then what belongs to it: before that it is nobody's, and sees nothing. Taken away again where
 * the rest does not come to be.
 * @returns the client's secret; null without one
 */
async function withClient(app: App, clientId: string | null, write: () => Promise<void>): Promise<string | null> {
  if (clientId === null) {
    await write()
    return null
  }
  const secret = newClientSecret()
  await app.identity.createServiceClient(CUSTOMERS_REALM, { clientId, secret, roles: [] })
  try {
    await write()
  } catch (error) {
    await app.identity.deleteClient(CUSTOMERS_REALM, clientId).catch((cause: unknown) => {
      app.log.warn({ err: cause, client_id: clientId }, 'the client of a sandbox customer could not be taken away')
    })
    throw error
  }
  return secret
}

async function writeCustomer(
  app: App,
  tx: DatabaseTransactionConnection,
  { actor, wish, newcomer, chance }: { actor: Actor; wish: NewCustomer; newcomer: NewCustomerIds; chance: Ids },
): Promise<void> {
  const { id, externalId, clientId, proxies } = newcomer
  const { name } = wish
  const email = proxies.find(({ kind }) => kind === 'EMAIL')?.value ?? ''
  if ((await insertCustomer(tx, { id, externalId, name, email })) === null) throw new Error('a new id was taken')
  for (const proxy of proxies) if (!(await insertProxy(tx, { ...proxy, customerId: id }))) throw taken(proxy)
  if (clientId !== null) await insertClient(tx, { customerId: id, clientId })
  // They are all of one moment: what puts them in the order in which they were asked for is their ids.
  const ids = wish.accounts.map(() => chance.uuid()).toSorted()
  for (const [index, account] of wish.accounts.entries())
    await writeAccount(chance, tx, { id: ids[index] ?? chance.uuid(), customerId: id, name, wish: account })
  await recordAction(app, tx, {
    actor,
    action: 'sandbox.create_customer',
    merchantId: null,
    subjectId: id,
    after: { customer_id: externalId, accounts: wish.accounts.length },
  })
}

const FIELDS = { EMAIL: 'email', MOBILE: 'mobile', PROXY: 'proxy_id' } as const

function taken({ kind, value }: Proxy): DomainError {
  return new DomainError('PROXY_TAKEN', `${FIELDS[kind]}: another customer has ${value} already`, {
    next: 'give another one, or leave it out',
  })
}

/** An account with its money, which it must have before it is closed. */
async function writeAccount(
  ids: Ids,
  tx: DatabaseTransactionConnection,
  { id, customerId, name, wish }: { id: string; customerId: string; name: string; wish: NewAccount },
): Promise<void> {
  const { currency, status } = wish
  const overdraftMinor = minorOf(wish.overdraft_limit, currency)
  await openAccount(
    tx,
    {
      id,
      customerId,
      currency,
      name,
      type: wish.account_type,
      subType: wish.account_sub_type,
      nickname: wish.nickname ?? null,
      overdraftMinor,
    },
    () => belowOf(ids)(ACCOUNT_NUMBER_COUNT),
  )
  const amountMinor = minorOf(wish.balance, currency)
  if (amountMinor > 0n) {
    const outcome = await bookTransfer(tx, {
      id: ids.uuid(),
      debtorAccountId: null,
      creditorAccountId: id,
      amountMinor,
      currency,
      debtorName: name,
      creditorName: name,
      reference: OPENING,
    })
    if (outcome !== 'BOOKED') throw new Error(`the opening balance was not booked: ${outcome}`)
  }
  if (status !== 'Enabled') await updateAccount(tx, { id, status, overdraftMinor })
}

/** An amount of the sandbox's API, which may go without decimals. @throws {RangeError} when it has too many */
export function minorOf(text: string, currency: string): bigint {
  const minor = toMinorUnits(text.includes('.') ? text : `${text}.0`, currency)
  if (minor === undefined) throw new RangeError('an amount has more decimals than its currency')
  return minor
}
