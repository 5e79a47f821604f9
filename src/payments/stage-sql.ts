import type { CommonQueryMethods } from 'slonik'
import { sql } from '../db/sql.ts'
import { claimedPayments } from './claim-sql.ts'
import { UnstagedPayment } from './record.ts'
import { paymentTables } from './sql.ts'

const unstagedColumns = sql.fragment`
  p.id, p.merchant_id, p.consent_id, p.end_to_end_id, p.bank_consent_id, p.bank_connector, p.gross_amount, p.currency,
  p.redirect_uri, c.debtor_bank_id, c.debtor_account_scheme, c.debtor_identification, c.remittance_reference,
  c.sandbox_scenario,
  c.control_parameters, c.valid_to, m.trading_name
`

/** A payment that is recorded but not staged at its bank. */
export function findUnstaged(
  db: CommonQueryMethods,
  key: { merchantId: string; id: string },
): Promise<UnstagedPayment | null> {
  return db.maybeOne(sql.type(UnstagedPayment)`
    select ${unstagedColumns}
    from ${paymentTables} join merchants m on m.id = p.merchant_id
    where p.merchant_id = ${key.merchantId} and p.id = ${key.id} and p.status = 'Initiated' and not p.under_mandate
  `)
}

/**
 * Takes payments that a crash or a silent bank left unstaged for `olderThanSeconds`, for `leaseSeconds`: one that keeps
 * failing does not hold up the ones behind it.
 */
export function claimUnstaged(
  db: CommonQueryMethods,
  { limit, olderThanSeconds, leaseSeconds }: { limit: number; olderThanSeconds: number; leaseSeconds: number },
): Promise<readonly UnstagedPayment[]> {
  return db.any(sql.type(UnstagedPayment)`
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
