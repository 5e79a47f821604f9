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

/** How long another process is given to finish its own, and how often it is looked after. */
const WAIT_MAX_MS = 60_000
const LOOK_MS = 50

/** Transfers in one statement, so that each is far from the time limit of statements. */
const BATCH_SIZE = 250

export type SeedBankInput = {
  seed: number
  customers: number
  /** Of history, the last of them the day before `today`. */
  days: number
  actor: Actor
  /** In London. */
  today?: Day
}

export type SeededBank = {
  customers: Omit<SandboxCustomer, 'client_secret' | 'issuer'>[]
  transactions: number
  alreadyThere: number
}

/**
 * Fills the bank with people, their accounts and what they did with their money: all of it follows from the seed and the
 * day. Whoever is there already is left alone, so a repeat changes nothing; the others come with their whole history, or
 * nobody does. A mobile number or another proxy that somebody else has is left out.
 * @throws {DomainError} SERVICE_UNAVAILABLE while another process takes too long over the same
 */
export async function seedSandbox(app: App, wish: SeedBankInput): Promise<SeededBank> {
  const { seed, today = londonDayOf(new Date()) } = wish
  const people = Array.from({ length: wish.customers }, (_, index) => personOf(seed, index + 1))
  const ids = people.map(({ id }) => id)
  for (;;) {
    const known = await findCustomerIds(app.pool, ids)
    const newcomers = people.filter(({ id }) => !known.has(id))
    const transactions = newcomers.length === 0 ? 0 : await seedNewcomers(app, { wish, newcomers, today })
    // Somebody else has brought some of them meanwhile: the rest have other friends then.
    if (transactions === null) continue
    return { customers: await customerViews(app.pool, ids), transactions, alreadyThere: known.size }
  }
}

type Newcomers = { wish: SeedBankInput; newcomers: readonly SeedPerson[]; today: Day }

/**
 * Brings people with their histories, or nobody where one of them is there by now.
 * @returns how many transactions were booked; null where nobody was brought
 */
async function seedNewcomers(app: App, { wish, newcomers, today }: Newcomers): Promise<number | null> {
  const { seed, days, actor } = wish
  const period = periodBefore(today, days)
  // Before the transaction, which must not wait for it.
  const { transfers } = await livesOf(newcomers, period)
  const ids = newcomers.map(({ id }) => id)
  return alone(app, async (tx) => {
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
 * What the newcomers do with their money, the transfers among them too, in the order of time. Lets the process do
 * something else after each of them.
 */
export async function livesOf(
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

/** Runs `work` in a transaction while nobody else fills the bank. */
export async function alone<T>(
  { pool }: Pick<App, 'pool'>,
  work: (tx: DatabaseTransactionConnection) => Promise<T>,
): Promise<T> {
  const deadline = performance.now() + WAIT_MAX_MS
  for (;;) {
    const done = await pool.transaction(async (tx) => ((await lockSeeding(tx)) ? { result: await work(tx) } : null))
    if (done !== null) return done.result
    if (performance.now() > deadline)
      throw new DomainError('SERVICE_UNAVAILABLE', 'another process is filling the bank', { next: 'try again later' })
    await delay(LOOK_MS)
  }
}

/** A person with empty accounts, which are as old as the history. */
export async function writePerson(
  tx: DatabaseTransactionConnection,
  person: SeedPerson,
  { begin }: Period,
): Promise<void> {
  const { id, name, email } = person
  const customer = { id, externalId: person.externalId, name, email, createdAt: new Date(begin).toISOString() }
  if ((await insertCustomer(tx, customer)) === null) throw new Error('a customer of a seed is there under another id')
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

/** Books what the plan says. The plan has nothing that the bank refuses, so a refusal is an error of the plan. */
export async function bookAll(tx: DatabaseTransactionConnection, transfers: readonly SeedTransfer[]): Promise<void> {
  for (let at = 0; at < transfers.length; at += BATCH_SIZE) {
    const refused = (await bookTransfers(tx, transfers.slice(at, at + BATCH_SIZE))).find(
      ({ outcome }) => outcome !== 'BOOKED',
    )
    if (refused !== undefined) throw new Error(`${refused.count} transfers were not booked: ${refused.outcome}`)
  }
}

/** How many transactions a transfer makes: one on each of the bank's accounts. */
function sidesOf({ debtorAccountId, creditorAccountId }: SeedTransfer): number {
  return [debtorAccountId, creditorAccountId].filter((id) => id !== null).length
}
