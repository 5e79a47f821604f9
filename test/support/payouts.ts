import { randomInt, randomUUID } from 'node:crypto'
import { keepBalancesOf } from '../../src/ledger/keep-balances.ts'
import { postMovements } from '../../src/ledger/sql.ts'
import { closePeriod } from '../../src/settlements/sql.ts'
import type { TestMerchant, TestService } from './app.ts'

type Service = Pick<TestService, 'app' | 'owner' | 'call'>

/** Adds an account of another bank for payouts. @returns its id */
export async function payoutAccount(service: Service, merchant: TestMerchant, more: object = {}): Promise<string> {
  const body = {
    account_holder_name: 'Acme Ltd',
    sort_code: '20-45-31',
    account_number: String(randomInt(10_000_000, 99_999_999)),
    ...more,
  }
  const added = await service.call('POST', '/api/v1/portal/bank-accounts', { merchant, body })
  if (added.status !== 201) throw new Error(added.text)
  return added.body.id
}

/** Closes a settlement of an amount for a merchant, without its payments. @returns its id */
export async function closedSettlement(
  { app }: Pick<Service, 'app'>,
  { id: merchantId }: Pick<TestMerchant, 'id'>,
  { amount = '49.3000', currency = 'GBP' }: { amount?: string; currency?: string } = {},
): Promise<string> {
  const id = randomUUID()
  const settled = { merchantId, subjectId: randomUUID(), amount, currency, movement: 'payment_settled' } as const
  await app.pool.transaction((tx) => postMovements(tx, [settled]))
  await keepBalancesOf(app, merchantId)
  const period = { merchant_id: merchantId, currency }
  const isClosed = await app.pool.transaction((tx) => closePeriod(tx, { id, period, byHand: true }))
  if (!isClosed) throw new Error('no settlement was closed')
  return id
}

/** A merchant with an account for payouts and a closed settlement. */
export async function payableMerchant(
  service: Service & Pick<TestService, 'merchant'>,
  amounts: { amount?: string; currency?: string } = {},
): Promise<TestMerchant & { accountId: string; settlementId: string }> {
  const merchant = await service.merchant()
  const accountId = await payoutAccount(service, merchant)
  return { ...merchant, accountId, settlementId: await closedSettlement(service, merchant, amounts) }
}

export type PayoutRow = {
  id: string
  status: string
  amount: string
  currency: string
  bank_account_id: string
  bank_reference: string | null
  failure_code: string | null
  retry_at: Date | null
  attempt_count: number
}

/** The payouts of a merchant, the oldest first. */
export async function payoutsOf({ owner }: Pick<Service, 'owner'>, { id }: { id: string }): Promise<PayoutRow[]> {
  const { rows } = await owner.query<PayoutRow>(
    `select id, status::text as status, amount, currency, bank_account_id, bank_reference, failure_code, retry_at,
       attempt_count
     from payouts where merchant_id = $1 order by created_at, id`,
    [id],
  )
  return rows
}

/** The transfers that the mock bank has made for a merchant's payouts, but for returns. */
export async function transfersOf({ owner }: Pick<Service, 'owner'>, { id }: { id: string }): Promise<number[]> {
  const { rows } = await owner.query<{ amount: number }>(
    `select t.amount_minor::int as amount
     from payouts p join transfers t on t.id = p.id
     where p.merchant_id = $1 order by p.created_at, p.id`,
    [id],
  )
  return rows.map(({ amount }) => amount)
}

/** The webhooks about a merchant's payouts, in the order in which they were written. */
export async function payoutWebhooksOf(
  { owner }: Pick<Service, 'owner'>,
  { id }: { id: string },
  // Tests look into events of every shape.
  // oxlint-disable-next-line typescript/no-explicit-any
): Promise<{ type: string; data: any }[]> {
  const { rows } = await owner.query(
    `select event_type as type, payload->'data' as data from webhook_deliveries
     where merchant_id = $1 and event_type like 'payout.%' order by feed_ordinal`,
    [id],
  )
  return rows
}

/** Lets the time until the bank is asked again, or until the next payout, pass for a merchant. */
export async function passPayoutTimes({ owner }: Pick<Service, 'owner'>, { id }: { id: string }): Promise<void> {
  await owner.query(
    `update payouts set next_attempt_at = now(), locked_until = null, retry_at = case when retry_at is not null then least(retry_at, now()) end
     where merchant_id = $1 and retry_at is distinct from 'infinity'`,
    [id],
  )
}
