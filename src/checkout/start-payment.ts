import { setTimeout as delay } from 'node:timers/promises'
import type { App } from '../app.ts'
import { unknownBank } from '../banks/catalogue.ts'
import { DomainError } from '../lib/errors.ts'
import { sha256Hex } from '../lib/hmac.ts'
import { cancelPayment } from '../payments/cancel-payment.ts'
import { createPayment } from '../payments/create-payment.ts'
import { CheckoutOpenError } from '../payments/creation-rules.ts'
import type { CreatePaymentInput, CreatePaymentResult } from '../payments/creation-rules.ts'
import { getPayment } from '../payments/get-payment.ts'
import { findBankOfKey } from '../payments/sql.ts'
import type { CheckoutPayment } from '../wire/new-payment.ts'
import { paymentBody } from './payment-body.ts'
import type { VerifiedCheckout } from './record.ts'
import { errorForPayers } from './errors.ts'
import { bankReturnUrl } from './shop-return.ts'

export type StartPaymentInput = {
  checkout: VerifiedCheckout
  idempotencyKey: string | undefined
  body: CheckoutPayment
}

/** Attempts to cancel an open payment of the token and replace it, and the base of the random pause between two. */
const ATTEMPTS_MAX = 8
const PAUSE_MS = 25

/**
 * Creates the payment that a checkout token describes (decision 66). A payment of the same token that still waits for its
 * payer or its bank is cancelled first, in the payer's name: an order can't be paid in two tabs, and can be paid at
 * another bank while one is silent (decision 425).
 * @throws {DomainError} as `createPayment` does, and CHECKOUT_ALREADY_PAID, CHECKOUT_ATTEMPTS_USED
 */
export async function startPayment(app: App, input: StartPaymentInput): Promise<CreatePaymentResult> {
  const { id: merchantId } = input.checkout.merchant
  const creation = createPaymentInput(app, input)
  await checkBank(app, creation)
  const { created, payment } = await createReplacingOpen(app, creation)
  const { bank_consent_id: state } = await getPayment(app, { merchantId, id: payment.payment_id })
  return { created, payment: { ...payment, payment_state: state } }
}

function createPaymentInput(app: App, { checkout, idempotencyKey, body }: StartPaymentInput): CreatePaymentInput {
  const { token, hash, merchant } = checkout
  const { same_tab: _tab, locale: _locale, ...chosen } = body
  return {
    merchant,
    idempotencyKey: idempotencyKey === undefined ? undefined : checkoutIdempotencyKey(hash, idempotencyKey),
    body: paymentBody(token, bankReturnUrl(app, body), chosen),
    // The payer's request with the shop's token, but without the token's signature, which is a credential.
    rawBody: JSON.stringify({ ...body, checkout_token: token }),
    checkout: { hash, returnUrl: token.returnUrl, orderId: token.jti },
  }
}

/** Payers choose from the list, in the sandbox too. A repeat is answered whatever banks there are by now. */
async function checkBank(app: App, { merchant, idempotencyKey, body }: CreatePaymentInput): Promise<void> {
  const { debtor_bank_id: bankId } = body
  if (bankId === undefined || app.catalogue.byId(bankId) !== undefined) return
  const isRepeat =
    idempotencyKey !== undefined &&
    (await findBankOfKey(app.pool, { merchantId: merchant.id, idempotencyKey })) !== null
  if (!isRepeat) throw unknownBank()
}

/**
 * A payer's idempotency key is valid for its token only: it can't collide with the merchant's keys or return another
 * payer's payment. The token's hash comes first, so that keys sort like tokens, the order in which `create_payments` locks.
 */
function checkoutIdempotencyKey(hash: string, key: string): string {
  return `checkout:${hash}:${sha256Hex(key)}`
}

async function createReplacingOpen(app: App, input: CreatePaymentInput): Promise<CreatePaymentResult> {
  for (let attempt = 1; attempt <= ATTEMPTS_MAX; attempt += 1) {
    try {
      return await createPayment(app, input)
    } catch (error) {
      if (!(error instanceof CheckoutOpenError)) throw errorForPayers(error)
      // A request that cancels a payment always tries to create its own: else all could give up and leave none.
      if (attempt === ATTEMPTS_MAX) break
      await cancelOpenPayment(app, { merchantId: input.merchant.id, id: error.paymentId })
    }
    // A random pause, so that one of many requests that cancel each other's payments succeeds.
    await delay(app.ids.random() * PAUSE_MS * attempt)
  }
  throw new DomainError('SERVICE_UNAVAILABLE', 'the payment is also being started elsewhere, perhaps in another tab', {
    next: 'close the other one, and try again',
    retryAfterSeconds: 1,
  })
}

/** A payment that can't be cancelled any more has moved meanwhile; the next attempt reports its outcome. */
async function cancelOpenPayment(app: App, key: { merchantId: string; id: string }): Promise<void> {
  try {
    await cancelPayment(app, { ...key, by: 'payer', rawBody: JSON.stringify({ reason: 'started again' }) })
  } catch (error) {
    if (!(error instanceof DomainError && error.code === 'PAYMENT_NOT_CANCELLABLE')) throw error
  }
}
