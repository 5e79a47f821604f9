import { randomUUID } from 'node:crypto'
import { z } from 'zod'
import { encodeCheckoutToken, signCheckoutToken } from '../../../src/lib/checkout-token.ts'
import { parseDuration } from '../../../src/lib/duration.ts'
import { Checkout, getCheckout } from '../../../src/wire/checkout.ts'
import { CheckoutPayment } from '../../../src/wire/new-payment.ts'
import { leaveContact } from '../../../src/wire/payer.ts'
import {
  CreatedPayment,
  Payment,
  ScaCompleted,
  cancelPayment,
  completeSca,
  createPayment,
} from '../../../src/wire/payments.ts'
import type { ScaComplete } from '../../../src/wire/payments.ts'
import { withCheckoutToken, withPaymentState } from '../../client/auth/credentials.ts'
import { call } from '../../client/call.ts'
import type { Client } from '../../client/call.ts'
import { contactOf } from '../../payer/sign-in.ts'
import { refuseUnlike } from '../assert-matches.ts'
import { StepFailure } from '../failure.ts'
import { Advance, Name, Ref, Text, expectedOf, matchersOf, made } from '../language/parts.ts'
import { madeOf } from '../play/case-run.ts'
import type { CaseRun, MadePayment } from '../play/case-run.ts'
import { present } from '../member.ts'
import { visitBank } from './bank.ts'
import { numberOf } from './customers.ts'
import { noContact } from './payers.ts'
import { sends, verb } from './verb.ts'

const CheckoutStep = z
  .strictObject({
    as: Name.optional(),
    /** A checkout to open again, with the very same token. */
    again: Ref.payment.optional(),
    amount: Text.optional(),
    currency: Text.optional(),
    /** The order's number: all tokens with it are of one order, which is paid once. */
    order: Text.optional(),
    payer_name: Text.optional(),
    remittance_reference: Text.optional(),
    merchant_name: Text.optional(),
    return_url: Text.optional(),
    callback_origin: Text.optional(),
    /** The customer whose account the token names. */
    from: Ref.customer.optional(),
    /** How long the token lasts; 0s for one that has ended. */
    expires_in: Advance.optional(),
    /** Whether the merchant's secret has signed it, as it does where nothing is said; `wrong` for another secret. */
    signed: z.union([z.boolean(), z.literal('wrong')]).optional(),
    /** Whether a payment is started; a checkout that is only looked at is `pays: false`. */
    pays: z.boolean().optional(),
    /** The browser's own, with which it repeats its request. */
    idempotency_key: Text.optional(),
    debtor_bank_id: Text.optional(),
    scenario: Text.optional(),
    /** What the payer does at the bank at once: short for a step `bank`. */
    bank: z.enum(['approve', 'cancel']).optional(),
    /** What the widget reads before there is a payment. */
    opened: z.strictObject(matchersOf(Checkout)).optional(),
    expect: expectedOf(CreatedPayment),
  })
  .refine(
    ({ again, amount, currency }) => again !== undefined || (amount !== undefined && currency !== undefined),
    'checkout takes amount and currency, or again for a token of before',
  )
type CheckoutStep = z.output<typeof CheckoutStep>

/** The creation as a browser asks for it: what a server's body says is in the token. */
const FROM_BROWSER = { ...createPayment, body: CheckoutPayment }

const checkout = verb({
  schema: CheckoutStep,
  text: "Pays as the widget does, with a token of the merchant's server: signed, unsigned or with a `wrong` signature.",
  examples: [
    'checkout: { as: p1, amount: "12.50", currency: GBP, order: order-1 }',
    'checkout: { amount: "12.50", currency: GBP, pays: false, opened: { is_paid: false } }',
    'checkout: { again: $p1 }',
  ],
  makes: made('payment', CreatedPayment),
  async play(run, input) {
    const token = input.again === undefined ? newToken(run, input) : tokenOf(run, input.again)
    const browser = withCheckoutToken(run.client, token)
    const opened = await call(browser, getCheckout, {})
    refuseUnlike('the opened checkout', opened, { usual: 200, expected: input.opened, at: ['opened'] })
    if (input.pays === false) return
    const key = input.idempotency_key ?? run.newKey('checkout', input)
    const reply = await call(browser, FROM_BROWSER, {
      headers: { 'x-idempotency-key': key },
      body: present({ debtor_bank_id: input.debtor_bank_id, scenario: input.scenario }),
    })
    const created = reply.body
    const body = { amount: created.gross_amount, currency: created.currency }
    const payment: MadePayment = { created, key, body, token }
    const { payment_state: _state, ...shown } = created
    if (input.as !== undefined) run.captures.set(input.as, shown)
    run.made.push(Object.assign(payment, { kind: 'payment', name: input.as ?? '' } as const))
    refuseUnlike('the created payment', reply, { usual: 201, expected: input.expect })
    if (input.bank !== undefined) await visitBank(run, payment, { decision: input.bank })
  },
})

function tokenOf(run: CaseRun, reference: string): string {
  const { token } = madeOf(run, 'payment', reference)
  if (token !== undefined) return token
  throw new StepFailure(`${reference} was not started with a checkout token`, {
    at: ['again'],
    hint: "pay: { repeat: … } for a payment of the merchant's server",
  })
}

const LASTS = '1h'

function newToken(run: CaseRun, input: CheckoutStep): string {
  const { apiUrl } = run.client
  const payer = input.from === undefined ? undefined : numberOf(madeOf(run, 'customer', input.from))
  const text = encodeCheckoutToken({
    ...present({ amount: input.amount, currency: input.currency }),
    merchantName: input.merchant_name ?? run.merchant.name,
    apiUrl: `${apiUrl}/api/v1`,
    returnUrl: input.return_url ?? `${apiUrl}/dev/merchant-success`,
    merchantClientId: run.merchant.client_id,
    callbackOrigin: input.callback_origin ?? new URL(apiUrl).origin,
    ...present({ payerName: input.payer_name, remittanceReference: input.remittance_reference }),
    ...present({ debtorAccountScheme: payer?.SchemeName, debtorIdentification: payer?.Identification }),
    exp: Math.floor((Date.now() + parseDuration(input.expires_in ?? LASTS)) / 1_000),
    jti: input.order ?? run.newKey('order', input),
  })
  if (input.signed === false) return text
  return signCheckoutToken(text, input.signed === 'wrong' ? randomUUID() : run.merchant.secret)
}

/** The return from the bank, by hand: what the bank gave the payer, unless a step says something else. */
const Sca = z.strictObject({
  payment: Ref.payment,
  state: Text.optional(),
  code: Text.optional(),
  error: Text.optional(),
  error_description: Text.optional(),
  expect: expectedOf(ScaCompleted),
})

/** A return says a code or an error; which of them the bank gave is used where the step says neither. */
function returnOf(payment: MadePayment, input: z.output<typeof Sca>): ScaComplete {
  const { payment: reference, error, error_description, code } = input
  const state = input.state ?? stateOf(payment, reference)
  if (error !== undefined) return { state, error, ...present({ error_description }) }
  if (code !== undefined) return { state, code }
  if (payment.sentBack !== undefined) return { ...payment.sentBack, state }
  throw new StepFailure(`the bank has not sent the payer of ${reference} back with anything yet`, {
    at: ['payment'],
    hint: `bank: { approve: ${reference}, returns: false } before this step; or a code or an error here`,
  })
}

type OfPayment = { payment: string }

function idOf(run: CaseRun, { payment }: OfPayment): { id: string } {
  return { id: madeOf(run, 'payment', payment).created.payment_id }
}

function asItsPayer(run: CaseRun, { payment }: OfPayment): Client {
  return withPaymentState(run.client, stateOf(madeOf(run, 'payment', payment), payment))
}

/** What the payer's browser proves itself with: it stands in the address of the bank's page. */
function stateOf({ created }: MadePayment, reference: string): string {
  const { payment_state: own, redirect_url: page } = created
  const state = own ?? (page === null ? null : new URL(page).searchParams.get('state'))
  if (state !== null) return state
  throw new StepFailure(`${reference} has no payer at a bank: it was made under a mandate`, {
    at: ['payment'],
    hint: 'state: "…" to send one that is made up',
  })
}

export const CHECKOUT_VERBS = {
  checkout,
  sca: verb({
    schema: Sca,
    text: 'Passes back the redirect of the bank, or another one.',
    examples: ['sca: { payment: $p1, error: access_denied }', 'sca: { payment: $p1, code: made-up }'],
    play: sends({
      operation: completeSca,
      what: 'the answer',
      request: (run, input) => ({
        params: idOf(run, input),
        body: returnOf(madeOf(run, 'payment', input.payment), input),
      }),
    }),
  }),
  'payer.cancel': verb({
    schema: z.strictObject({ payment: Ref.payment, expect: expectedOf(Payment) }),
    text: 'Cancels a payment as its payer, who has not decided at the bank yet.',
    examples: ['payer.cancel: { payment: $p1 }'],
    play: sends({
      operation: cancelPayment,
      what: ({ payment }) => payment,
      by: (run, input) => asItsPayer(run, input),
      request: (run, input) => ({ params: idOf(run, input) }),
    }),
  }),
  'payment.contact': verb({
    schema: z.strictObject({ payment: Ref.payment, contact: Text }),
    text: 'Leaves the e-mail address or phone number of the payer on the receipt.',
    examples: ['payment.contact: { payment: $p1, contact: ada@example.org }'],
    play: sends({
      operation: leaveContact,
      what: 'the answer',
      by: (run, input) => asItsPayer(run, input),
      request: (run, input) => ({ params: idOf(run, input), body: contactOf(input.contact, noContact) }),
    }),
  }),
}
