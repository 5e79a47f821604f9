import { roleAllows } from '../../lib/permissions.ts'
import { maskFreeText } from '../../lib/mask.ts'
import type { PaymentOfMerchant, WholePaymentOfMerchant } from '../../console/record.ts'
import type { AdminPayment, AdminPaymentSummary } from '../../wire/console.ts'
import type { PaymentSummary } from '../../wire/payments.ts'
import type { RefundRow } from '../../wire/refunds.ts'
import type { PlatformPrincipal } from '../principal.ts'
import { presentPayment, presentRefund, presentSummary } from './present-payment.ts'

/** A payment in the operators' list. */
export function presentAdminSummary(payment: PaymentOfMerchant, operator: PlatformPrincipal): AdminPaymentSummary {
  const { merchant_id, realm_slug, trading_name } = payment
  return { ...forOperator(presentSummary(payment), operator), merchant_id, realm_slug, trading_name }
}

/** A payment as operators see it. */
export function presentAdminPayment(payment: WholePaymentOfMerchant, operator: PlatformPrincipal): AdminPayment {
  const { merchant_id, realm_slug, trading_name } = payment
  const refunds = payment.refunds.map((refund) => forReader(presentRefund(refund), operator))
  return { ...forOperator(presentPayment(payment), operator), merchant_id, realm_slug, trading_name, refunds }
}

/** For operators who may only read, addresses and numbers in free text are masked. */
function forReader(refund: RefundRow, { role }: PlatformPrincipal): RefundRow {
  if (roleAllows(role, 'operate merchants') || refund.reason === null) return refund
  return { ...refund, reason: maskFreeText(refund.reason) }
}

/**
 * Without the address of the bank's page (decision 213): anyone who has it can act as the payer. Operators who may only read
 * get the first letter of the payer's name, and free text with masked addresses and numbers (decision 30).
 */
function forOperator<T extends PaymentSummary>(payment: T, { role }: PlatformPrincipal): T {
  const visible = { ...payment, redirect_url: null }
  if (roleAllows(role, 'operate merchants')) return visible
  const { payer_name: name, remittance_reference: reference, metadata, redirect_uri: uri } = payment
  return {
    ...visible,
    payer_name: name === null ? null : `${[...name].at(0) ?? ''}***`,
    remittance_reference: reference === null ? null : maskFreeText(reference),
    metadata:
      metadata === null
        ? null
        : Object.fromEntries(Object.entries(metadata).map(([key, value]) => [maskFreeText(key), maskFreeText(value)])),
    // Shops put data of the payer into paths and queries of their addresses, too.
    redirect_uri: uri === null ? null : maskFreeText(decoded(uri.split(/[?#]/, 1)[0] ?? '')),
  }
}

/** A part of an address, percent-decoded, so that the mask finds an @ written as %40. */
function decoded(text: string): string {
  try {
    return decodeURI(text.replaceAll(/%40/g, '@'))
  } catch {
    return text
  }
}
