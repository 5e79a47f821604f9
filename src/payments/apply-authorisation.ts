import type { App } from '../app.ts'
import type { BankCallback } from '../banks/connector.ts'
import type { FailureCode, FailureSource } from '../lib/failure-codes.ts'
import { movePayment } from './move.ts'
import type { MoveOutcome, PaymentRecord } from './record.ts'

/** The decision of the bank; with a source of its own, that of the payer's browser. */
export type Authorisation =
  | BankCallback['result']
  | { outcome: 'rejected'; failureCode: FailureCode; failureSource?: FailureSource }

/**
 * Applies the bank's decision to a payment. The return page and the bank's callback both call it: the first one moves
 * the payment, and the other finds it moved (decision 54).
 * @param rawPayload the body that carried the decision, for the audit event
 */
export function applyAuthorisation(
  app: App,
  payment: Pick<PaymentRecord, 'id' | 'merchant_id' | 'consent_id'>,
  { authorisation, rawPayload }: { authorisation: Authorisation; rawPayload: string },
): Promise<MoveOutcome> {
  const move = {
    merchantId: payment.merchant_id,
    paymentId: payment.id,
    from: 'AwaitingAuthorisation',
    rawPayload,
  } as const
  if (authorisation.outcome === 'rejected') {
    const { outcome: _, ...failure } = authorisation
    return movePayment(app, { ...move, on: 'denial', ...failure })
  }
  return movePayment(app, {
    ...move,
    on: 'authorisation',
    bankReference: authorisation.bankReference,
    settleInSeconds: authorisation.settleInSeconds,
    payerAccount: { consentId: payment.consent_id, account: authorisation.debtorAccount },
  })
}
