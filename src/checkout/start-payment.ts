import { setTimeout as sleep } from 'node:timers/promises'
import type { App } from '../app.ts'
import { bankById } from '../banks/catalogue.ts'
import { DomainError, invalidField } from '../lib/errors.ts'
import { sha256Hex } from '../lib/hmac.ts'
import { cancelPayment } from '../payments/cancel-payment.ts'
import { createPayment } from '../payments/create-payment.ts'
import { CheckoutOpenError } from '../payments/creation-rules.ts'
import type { CreatePaymentInput, CreatePaymentResult } from '../payments/creation-rules.ts'
import { getPayment } from '../payments/get-payment.ts'
import type { CheckoutPayment } from '../wire/new-payment.ts'
import { paymentBody } from './payment-body.ts'
import type { VerifiedCheckout } from './record.ts'
import { errorForPayers } from './errors.ts'

export type StartPaymentInput = {
  checkout: VerifiedCheckout
  idempotencyKey: string | undefined
  body: CheckoutPayment
}

/** How often an open payment of the token is taken back for a new one, and how long others have in between. */
const ATTEMPTS_MAX = 8
const PAUSE_MS = 25

/**
 * Creates the payment that a checkout token describes (decision 66). A payment of the same token that still waits for its
 * payer is cancelled first, as that payer would: nobody pays an order in two tabs.
 * @throws {DomainError} as `createPayment` does, and CHECKOUT_ALREADY_PAID, CHECKOUT_ATTEMPTS_USED
 */
export async function startPayment(app: App, input: StartPaymentInput): Promise<CreatePaymentResult> {
  const { id: merchantId } = input.checkout.merchant
  const { created, payment } = await createReplacingOpen(app, createPaymentInput(app, input))
  const { bank_consent_id: state } = await getPayment(app, { merchantId, id: payment.payment_id })
  return { created, payment: { ...payment, payment_state: state } }
}

function createPaymentInput(
  app: App,
  { checkout, idempotencyKey, body: chosen }: StartPaymentInput,
): CreatePaymentInput {
  const { token, hash, merchant } = checkout
  if (chosen.debtor_bank_id !== undefined && bankById(chosen.debtor_bank_id) === undefined)
    throw invalidField('debtor_bank_id', 'UNKNOWN_BANK', 'is not one of the banks; GET /api/v1/banks lists them')
  return {
    merchant,
    idempotencyKey: idempotencyKey === undefined ? undefined : checkoutIdempotencyKey(hash, idempotencyKey),
    body: paymentBody(token, `${app.publicUrl}/payments/return`, chosen),
    // What the shop's server said stands beside what its payer did; the signature is left out, for it proves something.
    rawBody: JSON.stringify({ ...chosen, checkout_token: token }),
    checkout: { hash, returnUrl: token.returnUrl },
  }
}

/**
 * A payer's idempotency key counts for its token alone: it takes none of the merchant's, and answers no other payer's
 * payment. The token comes first, so that keys and tokens have one order, in which `create_payments` locks them.
 */
function checkoutIdempotencyKey(hash: string, key: string): string {
  return `checkout:${hash}:${sha256Hex(key)}`
}

async function createReplacingOpen(app: App, input: CreatePaymentInput): Promise<CreatePaymentResult> {
  for (let tries = 1; tries <= ATTEMPTS_MAX; tries += 1) {
    try {
      return await createPayment(app, input)
    } catch (error) {
      if (!(error instanceof CheckoutOpenError)) throw errorForPayers(error)
      // Whoever takes one back tries to put its own in place: or all could give up at once, and leave none.
      if (tries === ATTEMPTS_MAX) break
      await cancelOpenPayment(app, { merchantId: input.merchant.id, id: error.paymentId })
    }
    // Of many who take it back from each other, one must come through.
    await sleep(app.ids.random() * PAUSE_MS * tries)
  }
  throw new DomainError('SERVICE_UNAVAILABLE', 'the payment is being started elsewhere too, in another tab perhaps', {
    next: 'close the other one, and try again',
    retryAfterSeconds: 1,
  })
}

/** One that can't be cancelled any more has gone on meanwhile, and the next try tells what became of it. */
async function cancelOpenPayment(app: App, key: { merchantId: string; id: string }): Promise<void> {
  try {
    await cancelPayment(app, { ...key, by: 'payer', rawBody: JSON.stringify({ reason: 'started again' }) })
  } catch (error) {
    if (!(error instanceof DomainError && error.code === 'PAYMENT_NOT_CANCELLABLE')) throw error
  }
}
