import type { CommonQueryMethods } from 'slonik'
import { z } from 'zod'
import { sql } from '../db/sql.ts'
import type { MandateOrder } from './connector.ts'

/** A mandate in the mock bank's books. */
export const Mandate = z.strictObject({
  debtor_bank_id: z.string().nullable(),
  /** Whether it has expired. */
  is_over: z.boolean(),
  /** Whether the service has ended it at this bank. */
  is_ended: z.boolean(),
})
export type Mandate = z.infer<typeof Mandate>

/** A mandate that a payer approved; null where there is none, or where only a single payment was approved. */
export function findMandate(tx: CommonQueryMethods, reference: string): Promise<Mandate | null> {
  return tx.maybeOne(sql.type(Mandate)`
    select a.debtor_bank_id, a.mandate_valid_to <= now() as is_over,
      exists (select from mock_bank.ended_mandates e where e.consent_reference = a.consent_reference) as is_ended
    from mock_bank.authorisations a
    where a.consent_reference = ${reference} and a.mandate_valid_to is not null and a.code is not null
  `)
}

export type MandatePayment = {
  order: MandateOrder
  scenario: string
  /** Null when the bank denies it. */
  code: string | null
  consentReference: string
  bankReference: string
}

/** Records a payment under a mandate, once. */
export async function insertMandatePayment(
  tx: CommonQueryMethods,
  { order, scenario, code, consentReference, bankReference }: MandatePayment,
): Promise<void> {
  await tx.query(sql.typeAlias('void')`
    insert into mock_bank.authorisations (
      state, consent_reference, end_to_end_id, amount, currency, payee_name, debtor_bank_id, scenario, decision, code,
      bank_reference, payee_id, debtor_account_id, remittance_reference, mandate_reference
    )
    select ${order.state}, ${consentReference}, ${order.endToEndId}, ${order.amount}::numeric, ${order.currency},
      a.payee_name, a.debtor_bank_id, ${scenario}, 'approve', ${code}, ${bankReference}, a.payee_id, a.debtor_account_id,
      ${order.remittanceReference ?? null}, a.consent_reference
    from mock_bank.authorisations a
    where a.consent_reference = ${order.bankConsentReference}
    on conflict do nothing
  `)
}

/** Ends the mandate: the bank accepts no more payments under it. */
export async function insertEndedMandate(tx: CommonQueryMethods, reference: string): Promise<void> {
  await tx.query(sql.typeAlias('void')`
    insert into mock_bank.ended_mandates (consent_reference) values (${reference}) on conflict do nothing
  `)
}
