import type pg from 'pg'
import { byHandOf } from './by-hand.ts'

/** The columns of a planted payment as SQL over payment `p` and its number `n`. */
const COLUMNS: Readonly<Record<string, string>> = {
  id: 'gen_random_uuid()',
  merchant_id: 'p.merchant_id',
  consent_id: 'p.consent_id',
  idempotency_key: 'n::text',
  request_fingerprint: 'p.request_fingerprint',
  amount: 'p.amount',
  gross_amount: 'p.gross_amount',
  fee_amount: 'p.fee_amount',
  net_amount: 'p.net_amount',
  fee_percentage: 'p.fee_percentage',
  fee_flat: 'p.fee_flat',
  currency: 'p.currency',
  status: "'Settled'",
  end_to_end_id: "'SVC' || md5(n::text)",
  bank_consent_id: 'n::text',
  bank_connector: 'p.bank_connector',
  redirect_uri: 'p.redirect_uri',
}

/**
 * Many settled payments like one that there is, numbered from 1, for tests of plans: with no history, and past all triggers.
 * `columns` replaces or adds columns, as SQL over payment `p` and number `n`.
 */
export async function plantPayments(
  owner: pg.Client,
  { paymentId, count, columns = {} }: { paymentId: string; count: number; columns?: Readonly<Record<string, string>> },
): Promise<void> {
  const all = { ...COLUMNS, ...columns }
  await byHandOf(owner)([
    `insert into payment_intents (${Object.keys(all).join(', ')})
     select ${Object.values(all).join(', ')} from payment_intents p, generate_series(1, ${count}) n where p.id = $1`,
    [paymentId],
  ])
}
