import type { CommonQueryMethods, FragmentSqlToken } from 'slonik'
import { z } from 'zod'
import { growingWait } from '../banks/wait-sql.ts'
import type { WaitBounds } from '../banks/wait-sql.ts'
import { sql } from '../db/sql.ts'
import { DueSettlement, UnstagedPayment } from './record.ts'
import { paymentTables } from './sql.ts'

/** Which payments wait for a worker, in which order they are claimed, and how many at once. */
type Claim = {
  waiting: FragmentSqlToken
  /** Banks whose payments are left to a later claim. */
  exceptBanks?: readonly string[]
  orderBy: FragmentSqlToken
  limit: number
  leaseSeconds: number
}

/**
 * A `with` clause that claims payments for `leaseSeconds`; the statement after it reads them from `claimed`. No other
 * worker claims them meanwhile, and the claim of a worker that dies ends with its lease.
 */
export function claimedPayments({ waiting, exceptBanks = [], orderBy, limit, leaseSeconds }: Claim): FragmentSqlToken {
  return sql.fragment`
    with due as (
      select merchant_id, id
      from payment_intents
      where ${waiting} and (locked_until is null or locked_until < now())
        and bank_connector <> all(${sql.array([...exceptBanks], 'text')})
      order by ${orderBy}
      limit ${limit}
      for update skip locked
    ),
    claimed as (
      update payment_intents p
      set locked_until = now() + make_interval(secs => ${leaseSeconds})
      from due
      where p.merchant_id = due.merchant_id and p.id = due.id
      returning p.*
    )
  `
}

const unstagedColumns = sql.fragment`
  p.id, p.merchant_id, p.consent_id, p.end_to_end_id, p.bank_consent_id, p.bank_connector, p.gross_amount, p.currency,
  p.redirect_uri, c.debtor_bank_id, c.debtor_account_scheme, c.debtor_identification, c.remittance_reference,
  c.sandbox_scenario,
  c.control_parameters, c.valid_to, m.trading_name, p.traceparent
`

/** Finds a payment that is recorded but not yet staged at its bank. */
export function findUnstagedPayment(
  tx: CommonQueryMethods,
  key: { merchantId: string; id: string },
): Promise<UnstagedPayment | null> {
  return tx.maybeOne(sql.type(UnstagedPayment)`
    select ${unstagedColumns}
    from ${paymentTables} join merchants m on m.id = p.merchant_id
    where p.merchant_id = ${key.merchantId} and p.id = ${key.id} and p.status = 'Initiated' and not p.under_mandate
  `)
}

/**
 * Claims payments for `leaseSeconds` that a crash or a silent bank left unstaged for `olderThanSeconds`. Because of the
 * lease, a payment that keeps failing does not hold up the ones after it.
 */
export function claimUnstagedPayments(
  tx: CommonQueryMethods,
  { limit, olderThanSeconds, leaseSeconds }: { limit: number; olderThanSeconds: number; leaseSeconds: number },
): Promise<readonly UnstagedPayment[]> {
  return tx.any(sql.type(UnstagedPayment)`
    ${claimedPayments({
      waiting: sql.fragment`
        status = 'Initiated' and not under_mandate
        and created_at < now() - make_interval(secs => ${olderThanSeconds})
      `,
      orderBy: sql.fragment`created_at`,
      limit,
      leaseSeconds,
    })}
    select ${unstagedColumns}
    from claimed p
    join payment_consents c on c.merchant_id = p.merchant_id and c.id = p.consent_id
    join merchants m on m.id = p.merchant_id
    where c.expires_at > now()
  `)
}

/** Claims payments whose execution is due, the longest overdue first. */
export function claimSettlements(
  tx: CommonQueryMethods,
  { limit, leaseSeconds, exceptBanks }: { limit: number; leaseSeconds: number; exceptBanks: readonly string[] },
): Promise<readonly DueSettlement[]> {
  return tx.any(sql.prepared('claim_settlements', DueSettlement)`
    ${claimedPayments({
      waiting: sql.fragment`status = 'Authorised' and settle_at <= now()`,
      exceptBanks,
      orderBy: sql.fragment`settle_at`,
      limit,
      leaseSeconds,
    })}
    select id, merchant_id, consent_id, end_to_end_id, bank_consent_id, bank_connector, gross_amount, currency,
      exists (select from unanswered_payments u where u.payment_id = claimed.id) as is_unanswered, traceparent
    from claimed
  `)
}

/**
 * Ends a claim early, as the bank gave no answer: execution is tried again after a tenth of the time since the
 * authorisation, within these bounds. A bank that is down for an hour is not asked every two seconds.
 */
export async function postponeAfterSilence(
  tx: CommonQueryMethods,
  { merchantId, id, ...bounds }: { merchantId: string; id: string } & WaitBounds,
): Promise<void> {
  await tx.query(sql.type(z.object({}))`
    update payment_intents
    set settle_at = now() + ${growingWait(sql.fragment`updated_at`, bounds)}, locked_until = null
    where merchant_id = ${merchantId} and id = ${id} and status = 'Authorised'
  `)
}

/** Ends a claim early: execution is tried again after `seconds`. */
export async function postponeSettlement(
  tx: CommonQueryMethods,
  { merchantId, id, seconds }: { merchantId: string; id: string; seconds: number },
): Promise<void> {
  await tx.query(sql.type(z.object({}))`
    update payment_intents
    set settle_at = now() + make_interval(secs => ${seconds}), locked_until = null
    where merchant_id = ${merchantId} and id = ${id} and status = 'Authorised'
  `)
}
