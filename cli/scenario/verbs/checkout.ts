import { randomUUID } from 'node:crypto'
import type { z } from 'zod'
import { encodeCheckoutToken, signCheckoutToken } from '../../../src/lib/checkout-token.ts'
import { parseDuration } from '../../../src/lib/duration.ts'
import { getCheckout } from '../../../src/wire/checkout.ts'
import { CheckoutPayment } from '../../../src/wire/new-payment.ts'
import { createPayment } from '../../../src/wire/payments.ts'
import { withCheckoutToken } from '../../client/auth/credentials.ts'
import { call } from '../../client/call.ts'
import type { Client } from '../../client/call.ts'
import { madeOf, readInput } from '../play/case-run.ts'
import type { CaseRun, MadePayment } from '../play/case-run.ts'
import { StepFailure } from '../failure.ts'
import { CheckoutStep } from '../language/checkout.ts'
import { present } from '../present.ts'
import { visitBank } from './bank-visit.ts'
import { numberOf } from './customers.ts'
import { refuseUnlike } from './refuse-unlike.ts'

/** The payer's browser at the checkout: it opens a token of the merchant's server, and starts a payment with it. */
export async function checkout(run: CaseRun, given: unknown): Promise<void> {
  const input = readInput(run, CheckoutStep, given)
  const token = input.again === undefined ? newToken(run, input) : tokenOf(run, input.again)
  const browser = withCheckoutToken(run.client, token)
  const opened = await call(browser, getCheckout, {})
  refuseUnlike('the opened checkout', opened, { usual: 200, expected: input.opened, at: ['opened'] })
  if (input.pays === false) return
  await pay(run, browser, { input, token })
}

async function pay(
  run: CaseRun,
  browser: Client,
  { input, token }: { input: z.output<typeof CheckoutStep>; token: string },
): Promise<void> {
  const said = present({ debtor_bank_id: input.debtor_bank_id, scenario: input.scenario })
  const key = input.idempotency_key ?? run.newKey('checkout', input)
  const reply = await call(browser, FROM_BROWSER, {
    headers: { 'x-idempotency-key': key },
    body: said,
  })
  const created = reply.body
  const payment: MadePayment = {
    created,
    key,
    body: { amount: created.gross_amount, currency: created.currency },
    token,
  }
  const { payment_state: _state, ...shown } = created
  if (input.as !== undefined) run.captures.set(input.as, shown)
  run.made.push(Object.assign(payment, { kind: 'payment', name: input.as ?? '' } as const))
  refuseUnlike('the created payment', reply, { usual: 201, expected: input.expect })
  if (input.bank !== undefined) await visitBank(run, payment, { decision: input.bank })
}

/** The creation as a browser asks for it: what a server's body says is in the token. */
const FROM_BROWSER = { ...createPayment, body: CheckoutPayment }

function tokenOf(run: CaseRun, reference: string): string {
  const { token } = madeOf(run, 'payment', reference)
  if (token !== undefined) return token
  throw new StepFailure(`${reference} was not started with a checkout token`, {
    at: ['again'],
    hint: "pay: { repeat: … } for a payment of the merchant's server",
  })
}

const LASTS = '1h'

/** As the merchant's server makes one. */
function newToken(run: CaseRun, input: z.output<typeof CheckoutStep>): string {
  const { apiUrl } = run.client
  const payer = input.from === undefined ? undefined : numberOf(madeOf(run, 'customer', input.from))
  const text = encodeCheckoutToken({
    ...present({ amount: input.amount, currency: input.currency }),
    merchantName: input.merchant_name ?? run.merchant.name,
    apiUrl,
    returnUrl: input.return_url ?? `${apiUrl}/dev/merchant-success`,
    merchantClientId: run.merchant.client_id,
    callbackOrigin: input.callback_origin ?? new URL(apiUrl).origin,
    ...present({ payerName: input.payer_name, remittanceReference: input.remittance_reference }),
    ...(payer === undefined
      ? {}
      : { debtorAccountScheme: payer.SchemeName, debtorIdentification: payer.Identification }),
    exp: Math.floor((Date.now() + parseDuration(input.expires_in ?? LASTS)) / 1_000),
    jti: input.order ?? run.newKey('order', input),
  })
  if (input.signed === false) return text
  return signCheckoutToken(text, input.signed === 'wrong' ? randomUUID() : run.merchant.secret)
}
