import { formatAmount, formatNumeric } from '../../lib/money.ts'
import type { MandateWithAllowances } from '../../consents/record.ts'
import type { Allowance, Mandate } from '../../wire/consents.ts'

/** A mandate for its merchant. */
export function presentMandate(
  mandate: MandateWithAllowances,
  { areCapsEnforced }: { areCapsEnforced: boolean },
): Mandate {
  return {
    consent_id: mandate.id,
    consent_type: mandate.consent_type,
    status: mandate.status,
    currency: mandate.currency,
    control_parameters: mandate.control_parameters,
    max_amount_per_payment: formatAmount(mandate.caps.maxAmountPerPayment, mandate.currency),
    allowances: presentAllowances(mandate),
    caps_enforced: areCapsEnforced,
    payer_name: mandate.payer_name,
    remittance_reference: mandate.remittance_reference,
    debtor_bank_id: mandate.debtor_bank_id,
    first_payment_id: mandate.first_payment_id,
    payment_count: mandate.payment_count,
    valid_to: mandate.valid_to,
    expires_at: mandate.expires_at,
    created_at: mandate.created_at,
    updated_at: mandate.updated_at,
  }
}

/** The remaining amounts of a mandate's caps, for its merchant and its payer. */
export function presentAllowances({ allowances, currency }: MandateWithAllowances): Allowance[] {
  return allowances.map(({ period, max_amount, used_amount, remaining_amount, resets_at }) => ({
    period,
    max_amount: formatNumeric(max_amount, currency),
    used_amount: formatNumeric(used_amount, currency),
    remaining_amount: formatNumeric(remaining_amount, currency),
    resets_at,
  }))
}
