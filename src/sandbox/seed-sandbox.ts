import { ACCOUNT_NUMBER_COUNT } from '../accounts/account-number.ts'
import { openAccount } from '../accounts/open-account.ts'
import { setTimeout as delay, setImmediate as turn } from 'node:timers/promises'
import type { DatabaseTransactionConnection } from 'slonik'
import type { App } from '../app.ts'
import type { Actor } from '../audit/record.ts'
import { recordAction } from '../audit/record-action.ts'
import { DomainError } from '../lib/errors.ts'
import { londonDayOf } from '../lib/london-time.ts'
import type { Day } from '../lib/london-time.ts'
import { seededRandom } from '../lib/seeded-random.ts'
import type { SandboxCustomer } from '../wire/sandbox-bank.ts'
import { bookTransfers, findCustomerIds, lockSeeding } from './bank-seed-sql.ts'
import { withoutUnaffordable } from './bank-seed/affordable.ts'
import { historyOf, periodBefore } from './bank-seed/history.ts'
import type { Period, SeedTransfer } from './bank-seed/history.ts'
import { personOf } from './bank-seed/people.ts'
import type { SeedPerson } from './bank-seed/people.ts'
import { customerViews } from './customer-view.ts'
import { insertCustomer, insertProxy } from './customers-sql.ts'

/** How long to wait for another process that is seeding, and the polling interval. */
const WAIT_MAX_MS = 60_000
const POLL_MS = 50

/** Transfers per statement, so that each one stays far below the statement timeout. */
const BATCH_SIZE = 250

export type SeedSandboxInput = {
  seed: number
  customers: number
  /** The number of days of history, which ends the day before `today`. */
  days: number
  actor: Actor
  /** In London. */
  today?: Day
}

export type SeededSandbox = {
  customers: Omit<SandboxCustomer, 'client_secret' | 'issuer'>[]
  transactions: number
  alreadyThere: number
}

/**
 * Fills the bank with people, their accounts and transactions, all of it determined by the seed and the day. Existing
 * customers are not changed, so a repeat changes nothing; the others are created with their whole history, or none of
 * them. A mobile number or another proxy that another customer has is omitted.
 * @throws {DomainError} SERVICE_UNAVAILABLE while another process is seeding for too long
 */
export async function seedSandbox(app: App, input: SeedSandboxInput): Promise<SeededSandbox> {
  const { seed, today = londonDayOf(new Date()) } = input
  const people = Array.from({ length: input.customers }, (_, index) => personOf(seed, index + 1))
  const ids = people.map(({ id }) => id)
  for (;;) {
    const known = await findCustomerIds(app.pool, ids)
    const newcomers = people.filter(({ id }) => !known.has(id))
    const transactions = newcomers.length === 0 ? 0 : await seedNewcomers(app, { input, newcomers, today })
    // Another process has created some of them in the meantime, which changes the friends of the rest.
    if (transactions === null) continue
    return { customers: await customerViews(app.pool, ids), transactions, alreadyThere: known.size }
  }
}

type Newcomers = { input: SeedSandboxInput; newcomers: readonly SeedPerson[]; today: Day }

/**
 * Creates people with their histories, or none when one of them exists by now.
 * @returns the number of transactions booked; null when no one was created
 */
async function seedNewcomers(app: App, { input, newcomers, today }: Newcomers): Promise<number | null> {
  const { seed, days, actor } = input
  const period = periodBefore(today, days)
  // Computed before the transaction, to keep that short.
  const { transfers } = await historiesOf(newcomers, period)
  const ids = newcomers.map(({ id }) => id)
  return withSeedingLock(app, async (tx) => {
    if ((await findCustomerIds(tx, ids)).size > 0) return null
    for (const person of newcomers) await writePerson(tx, person, period)
    await bookAll(tx, transfers)
    const after = { seed, customers: newcomers.length, days, transfers: transfers.length }
    const action = 'sandbox.seed'
    await recordAction(app, tx, { actor, action, merchantId: null, subjectId: `seed ${seed}`, after })
    return transfers.reduce((sum, each) => sum + sidesOf(each), 0)
  })
}

/**
 * The transfers of these people, including those among them, in chronological order. Yields to the event loop after
 * each person.
 */
export async function historiesOf(
  people: readonly SeedPerson[],
  period: Period,
): Promise<ReturnType<typeof withoutUnaffordable>> {
  const transfers: SeedTransfer[] = []
  for (const person of people) {
    const friends = people.filter(({ id }) => id !== person.id)
    for (const transfer of historyOf({ person, friends, period })) transfers.push(transfer)
    await turn()
  }
  return withoutUnaffordable(transfers, people)
}

/** Runs `work` in a transaction that holds the lock on seeding. */
export async function withSeedingLock<T>(
  { pool }: Pick<App, 'pool'>,
  work: (tx: DatabaseTransactionConnection) => Promise<T>,
): Promise<T> {
  const deadline = performance.now() + WAIT_MAX_MS
  for (;;) {
    const done = await pool.transaction(async (tx) => ((await lockSeeding(tx)) ? { result: await work(tx) } : null))
    if (done !== null) return done.result
    if (performance.now() > deadline)
      throw new DomainError('SERVICE_UNAVAILABLE', 'another process is seeding the bank', { next: 'try again later' })
    await delay(POLL_MS)
  }
}

/** Creates a person with empty accounts, which are as old as the history. */
export async function writePerson(
  tx: DatabaseTransactionConnection,
  person: SeedPerson,
  { begin }: Period,
): Promise<void> {
  const { id, name, email } = person
  const customer = { id, externalId: person.externalId, name, email, createdAt: new Date(begin).toISOString() }
  if ((await insertCustomer(tx, customer)) === null) throw new Error('a customer of a seed exists with another id')
  await insertProxy(tx, { customerId: id, kind: 'EMAIL', value: email })
  await insertProxy(tx, { customerId: id, kind: 'MOBILE', value: person.mobile })
  await insertProxy(tx, { customerId: id, kind: 'PROXY', value: person.proxyId })
  const accounts = person.savings === null ? [person.current] : [person.current, person.savings]
  for (const [place, account] of accounts.entries()) {
    const row = {
      id: account.id,
      customerId: id,
      currency: 'GBP',
      type: 'Personal',
      subType: account.subType,
      name,
      nickname: account.nickname,
      overdraftMinor: account.overdraft,
      createdAt: new Date(begin + place).toISOString(),
    }
    await openAccount(tx, row, (attempt) => seededRandom(`${account.id} number ${attempt}`).below(ACCOUNT_NUMBER_COUNT))
  }
}

/** Books the transfers. The history contains none that the bank would reject, so a rejection is a programming error. */
export async function bookAll(tx: DatabaseTransactionConnection, transfers: readonly SeedTransfer[]): Promise<void> {
  for (let at = 0; at < transfers.length; at += BATCH_SIZE) {
    const failed = (await bookTransfers(tx, transfers.slice(at, at + BATCH_SIZE))).find(
      ({ outcome }) => outcome !== 'BOOKED',
    )
    if (failed !== undefined) throw new Error(`${failed.count} transfers were not booked: ${failed.outcome}`)
  }
}

/** The number of transactions of a transfer: one for each account of the bank. */
function sidesOf({ debtorAccountId, creditorAccountId }: SeedTransfer): number {
  return [debtorAccountId, creditorAccountId].filter((id) => id !== null).length
}
