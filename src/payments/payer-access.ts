import type { App } from '../app.ts'
import { constantTimeEqual } from '../lib/hmac.ts'
import { isUuid } from '../lib/ids.ts'
import type { PaymentRecord } from './record.ts'
import { findPaymentByState, findPaymentById } from './sql.ts'

/** The form of a `state`; other text is not looked up. */
const STATE_FORM = /^[\w-]{1,256}$/

/**
 * The payment that a payer may see with its `state`, the capability that this payment's bank was given, until an hour
 * after the consent's end (decision 66). Null where id and state don't match or the time is over.
 */
export async function findPaymentForPayer(
  app: Pick<App, 'pool'>,
  { paymentId, state }: { paymentId: string; state: string },
): Promise<PaymentRecord | null> {
  const payment = isUuid(paymentId) ? await findPaymentById(app.pool, paymentId) : null
  return payment !== null && constantTimeEqual(state, payment.bank_consent_id) && payment.state_valid ? payment : null
}

/** The payment of a payer who comes back from the bank with only the `state`. */
export async function findPaymentByValidState(app: Pick<App, 'pool'>, state: string): Promise<PaymentRecord | null> {
  const payment = STATE_FORM.test(state) ? await findPaymentByState(app.pool, state) : null
  return payment?.state_valid === true ? payment : null
}
