import type { CommonQueryMethods, DatabaseTransactionConnection } from 'slonik'
import { z } from 'zod'
import { sql } from '../db/sql.ts'
import type { PayoutOrder } from './connector.ts'

const PayoutBooking = z.strictObject({
  payout_id: z.string(),
  merchant_id: z.string(),
  amount: z.string(),
  currency: z.string(),
  creditor_hash: z.string(),
  creditor_account_id: z.string().nullable(),
  debtor_account_id: z.string().nullable(),
  failure_code: z.string().nullable(),
  bank_reference: z.string().nullable(),
})
export type PayoutBooking = z.infer<typeof PayoutBooking>

const ReturnedBooking = z.strictObject({
  payout_id: z.string(),
  merchant_id: z.string(),
  bank_reference: z.string(),
  return_ordinal: z.bigint(),
})
export type ReturnedBooking = z.infer<typeof ReturnedBooking>

const Locked = z.object({ locked: z.unknown() })

const columns = sql.fragment`
  payout_id, merchant_id, amount, currency, creditor_hash, creditor_account_id, debtor_account_id, failure_code,
  bank_reference
`

/** Calls about one payout take turns until the transaction ends. */
export async function lockPayout(tx: DatabaseTransactionConnection, payoutId: string): Promise<void> {
  await tx.query(sql.type(Locked)`
    select pg_advisory_xact_lock(hashtextextended(${`mock bank payout ${payoutId}`}, 0)) as locked
  `)
}

/** Returns are numbered in the order in which they are committed. */
export async function lockReturns(tx: DatabaseTransactionConnection): Promise<void> {
  await tx.query(sql.type(Locked)`
    select pg_advisory_xact_lock(hashtextextended('mock bank payout returns', 0)) as locked
  `)
}

export function findPayoutBooking(tx: CommonQueryMethods, payoutId: string): Promise<PayoutBooking | null> {
  return tx.maybeOne(sql.type(PayoutBooking)`select ${columns} from mock_bank.payouts where payout_id = ${payoutId}`)
}

export type NewPayoutBooking = Pick<PayoutOrder, 'payoutId' | 'merchantId' | 'amount' | 'currency'> & {
  creditorHash: string
  creditorAccountId: string | null
  debtorAccountId: string | null
  failureCode: string | null
  bankReference: string | null
  willReturn: boolean
}

export async function insertPayoutBooking(
  tx: DatabaseTransactionConnection,
  { payoutId, merchantId, amount, currency, ...booking }: NewPayoutBooking,
): Promise<void> {
  await tx.query(sql.typeAlias('void')`
    insert into mock_bank.payouts (
      payout_id, merchant_id, amount, currency, creditor_hash, creditor_account_id, debtor_account_id, failure_code,
      bank_reference, will_return
    )
    values (
      ${payoutId}, ${merchantId}, ${amount}::numeric, ${currency}, ${booking.creditorHash},
      ${booking.creditorAccountId}::uuid, ${booking.debtorAccountId}::uuid, ${booking.failureCode},
      ${booking.bankReference}, ${booking.willReturn}
    )
  `)
}

/** Payouts whose money is to come back. */
export function listDueReturns(tx: CommonQueryMethods, limit: number): Promise<readonly PayoutBooking[]> {
  return tx.any(sql.type(PayoutBooking)`
    select ${columns} from mock_bank.payouts where will_return and return_ordinal is null
    order by created_at, payout_id
    limit ${limit}
  `)
}

/** Numbers a return; under the lock of returns. */
export async function numberReturn(tx: DatabaseTransactionConnection, payoutId: string): Promise<void> {
  await tx.query(sql.typeAlias('void')`
    update mock_bank.payouts
    set return_ordinal = (select coalesce(max(r.return_ordinal), 0) + 1 from mock_bank.payouts r), returned_at = now()
    where payout_id = ${payoutId}
  `)
}

export async function forgetReturn(tx: DatabaseTransactionConnection, payoutId: string): Promise<void> {
  await tx.query(sql.typeAlias('void')`update mock_bank.payouts set will_return = false where payout_id = ${payoutId}`)
}

export function listReturns(
  tx: CommonQueryMethods,
  { after, limit }: { after: string; limit: number },
): Promise<readonly ReturnedBooking[]> {
  return tx.any(sql.type(ReturnedBooking)`
    select payout_id, merchant_id, bank_reference, return_ordinal
    from mock_bank.payouts
    where return_ordinal > ${after}::bigint
    order by return_ordinal
    limit ${limit}
  `)
}
