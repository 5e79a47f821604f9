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
import { amountToMinorUnits } from '../lib/minor-units.ts'
import { CUSTOMERS_REALM, issuerOf } from '../lib/realms.ts'
import type { NewAccount, NewCustomer, SandboxCustomer } from '../wire/sandbox-bank.ts'
import { customerViews } from './customer-view.ts'
import { insertClient, insertCustomer, insertProxy, listCustomers, updateAccount } from './customers-sql.ts'
import type { Proxy } from './customers-sql.ts'
import { idsForNames, idsForReference } from './reproducible-ids.ts'

/** The reference of the opening balance. */
const OPENING = 'Opening balance'

type NewCustomerIds = { id: string; externalId: string; clientId: string | null; proxies: readonly Proxy[] }

/**
 * Creates a customer of the bank with accounts and balances (decision 60), and with an identity provider a client for
 * this customer, which is all that calls of Surface A need.
 * @param input `actor` is the operator
 * @throws {DomainError} PROXY_TAKEN
 * @throws {IdentityUnavailableError}
 */
export async function createSandboxCustomer(
  app: App,
  { actor, ...input }: NewCustomer & { actor: Actor },
): Promise<SandboxCustomer> {
  const isTaken = async (taken: string): Promise<boolean> => (await listCustomers(app.pool, [taken])).length > 0
  const { id, ownIds } = await idsForReference(app, { kind: 'customer', reference: input.reference, isTaken })
  const externalId = `customer-${id.slice(-12)}`
  const { authUrl } = app.identity
  const clientId =
    app.identity.kind === 'none' ? null : newClientId(CUSTOMERS_REALM, belowOf(idsForNames(app, ownIds.for('client'))))
  const ids = { id, externalId, clientId, proxies: proxiesOf(input, externalId) }
  const secret = await withClient(app, clientId, () =>
    app.pool.transaction((tx) => writeCustomer(app, tx, { actor, input, ids, ownIds })),
  )
  const [view] = await customerViews(app.pool, [id])
  if (view === undefined) throw new Error('a created customer was not found')
  return { ...view, client_secret: secret, issuer: authUrl === null ? null : issuerOf(authUrl, CUSTOMERS_REALM) }
}

/** Random whole numbers below a bound. */
function belowOf(ids: Ids): (size: number) => number {
  return (size) => Math.floor(ids.random() * size)
}

/**
 * The customer's proxies in normalised form and in one order, so that concurrent customers with the same ones can't
 * deadlock.
 */
function proxiesOf({ email, mobile, proxy_id: proxyId }: NewCustomer, externalId: string): Proxy[] {
  const proxies: Proxy[] = [{ kind: 'EMAIL', value: (email ?? `${externalId}@example.org`).toLowerCase() }]
  if (mobile !== undefined) proxies.push({ kind: 'MOBILE', value: mobile })
  if (proxyId !== undefined) proxies.push({ kind: 'PROXY', value: proxyId })
  return proxies.toSorted((one, other) => (one.value < other.value ? -1 : 1))
}

/**
 * Creates the client first, then the customer: until then the client belongs to no customer and can read nothing. It is
 * deleted again when creating the rest fails.
 * @returns the client's secret; null without a client
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
      app.log.warn({ err: cause, client_id: clientId }, 'the client of a sandbox customer could not be deleted')
    })
    throw error
  }
  return secret
}

async function writeCustomer(
  app: App,
  tx: DatabaseTransactionConnection,
  { actor, input, ids, ownIds }: { actor: Actor; input: NewCustomer; ids: NewCustomerIds; ownIds: Ids },
): Promise<void> {
  const { id, externalId, clientId, proxies } = ids
  const { name } = input
  const email = proxies.find(({ kind }) => kind === 'EMAIL')?.value ?? ''
  if ((await insertCustomer(tx, { id, externalId, name, email })) === null) throw new Error('a new id was taken')
  for (const proxy of proxies) if (!(await insertProxy(tx, { ...proxy, customerId: id }))) throw taken(proxy)
  if (clientId !== null) await insertClient(tx, { customerId: id, clientId })
  // They have the same creation time, so sorted ids preserve the requested order.
  const accountIds = input.accounts.map(() => ownIds.uuid()).toSorted()
  for (const [index, account] of input.accounts.entries())
    await writeAccount(ownIds, tx, { id: accountIds[index] ?? ownIds.uuid(), customerId: id, name, input: account })
  await recordAction(app, tx, {
    actor,
    action: 'sandbox.create_customer',
    merchantId: null,
    subjectId: id,
    after: { customer_id: externalId, accounts: input.accounts.length },
  })
}

const FIELDS = { EMAIL: 'email', MOBILE: 'mobile', PROXY: 'proxy_id' } as const

function taken({ kind, value }: Proxy): DomainError {
  return new DomainError('PROXY_TAKEN', `${FIELDS[kind]}: ${value} belongs to another customer`, {
    next: 'choose another one, or omit it',
  })
}

/** Opens an account and books its balance, which is possible only before it is closed. */
async function writeAccount(
  ids: Ids,
  tx: DatabaseTransactionConnection,
  { id, customerId, name, input }: { id: string; customerId: string; name: string; input: NewAccount },
): Promise<void> {
  const { currency, status } = input
  const overdraftMinor = parseBalance(input.overdraft_limit, currency)
  await openAccount(
    tx,
    {
      id,
      customerId,
      currency,
      name,
      type: input.account_type,
      subType: input.account_sub_type,
      nickname: input.nickname ?? null,
      overdraftMinor,
    },
    () => belowOf(ids)(ACCOUNT_NUMBER_COUNT),
  )
  const amountMinor = parseBalance(input.balance, currency)
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

/**
 * Parses an amount of the sandbox API.
 * @throws {RangeError} when it has too many decimals
 */
export function parseBalance(text: string, currency: string): bigint {
  const minor = amountToMinorUnits(text, currency)
  if (minor === undefined) throw new RangeError('an amount has more decimals than its currency')
  return minor
}
