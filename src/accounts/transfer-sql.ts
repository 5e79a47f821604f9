import type { CommonQueryMethods } from 'slonik'
import { z } from 'zod'
import { sql } from '../db/sql.ts'

/** The results of `book_transfer` (migrations/functions/book_transfer.sql). */
export const TransferOutcome = z.enum([
  'BOOKED',
  /** The same transfer was booked before. */
  'REPEAT',
  /** Another transfer has the id: a programming error. */
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

/** A transfer. A side without an account is at another bank. */
export type Transfer = {
  /** Its idempotency key: the id of its order, payment or refund. */
  id: string
  debtorAccountId: string | null
  creditorAccountId: string | null
  amountMinor: bigint
  currency: string
  /** The names shown to the other side. */
  debtorName: string | null
  creditorName: string | null
  reference: string | null
}

const Answer = z.object({ outcome: TransferOutcome })

/** Moves money and books it on both sides, in the caller's transaction; a rejected transfer changes nothing. */
export async function bookTransfer(tx: CommonQueryMethods, transfer: Transfer): Promise<TransferOutcome> {
  const row = await tx.one(sql.prepared('book_transfer', Answer)`
    select book_transfer(
      ${transfer.id}::uuid, ${transfer.debtorAccountId}::uuid, ${transfer.creditorAccountId}::uuid,
      ${transfer.amountMinor}::bigint, ${transfer.currency}::char(3), ${transfer.debtorName}::text,
      ${transfer.creditorName}::text, ${transfer.reference}::text
    ) as outcome
  `)
  return row.outcome
}
