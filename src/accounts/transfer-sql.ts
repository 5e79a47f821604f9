import type { CommonQueryMethods } from 'slonik'
import { z } from 'zod'
import { sql } from '../db/sql.ts'

/** The outcomes of `book_transfer` (migrations/functions/book_transfer.sql). */
export const TransferOutcome = z.enum([
  'BOOKED',
  /** The same transfer was booked before. */
  'REPEAT',
  /** The id is that of another transfer: a programmer's error. */
  'OTHER_TRANSFER',
  'INSUFFICIENT_FUNDS',
  'DEBTOR_NOT_FOUND',
  'DEBTOR_CLOSED',
  'DEBTOR_BLOCKED',
  'DEBTOR_CURRENCY',
  'CREDITOR_NOT_FOUND',
  'CREDITOR_CLOSED',
  'CREDITOR_CURRENCY',
])
export type TransferOutcome = z.infer<typeof TransferOutcome>

/** A movement of money. A side without an account is another bank's. */
export type Transfer = {
  /** Its idempotency key: the id of the order, payment or refund that it carries out. */
  id: string
  debtorAccountId: string | null
  creditorAccountId: string | null
  amountMinor: bigint
  currency: string
  /** As the other side sees them. */
  debtorName: string | null
  creditorName: string | null
  reference: string | null
}

const Answer = z.object({ outcome: TransferOutcome })

/** Moves money and books it on both sides, in the caller's transaction; a refusal changes nothing. */
export async function bookTransfer(db: CommonQueryMethods, transfer: Transfer): Promise<TransferOutcome> {
  const row = await db.one(sql.prepared('book_transfer', Answer)`
    select book_transfer(
      ${transfer.id}::uuid, ${transfer.debtorAccountId}::uuid, ${transfer.creditorAccountId}::uuid,
      ${transfer.amountMinor}::bigint, ${transfer.currency}::char(3), ${transfer.debtorName}::text,
      ${transfer.creditorName}::text, ${transfer.reference}::text
    ) as outcome
  `)
  return row.outcome
}
