import { z } from 'zod'
import { parseDuration } from '../../../src/lib/duration.ts'
import { Mandate, getConsent } from '../../../src/wire/consents.ts'
import { DebtorAccountScheme } from '../../../src/wire/new-payment.ts'
import type { CreatePayment } from '../../../src/wire/new-payment.ts'
import {
  ConsentStatus,
  CreatedPayment,
  Payment,
  PaymentStatus,
  createPayment,
  getPayment,
} from '../../../src/wire/payments.ts'
import type { PayerView } from '../../../src/wire/payments.ts'
import { call } from '../../client/call.ts'
import { STILL_POSSIBLE } from '../../kit/wait.ts'
import { refuseUnlike } from '../assert-matches.ts'
import { StepFailure } from '../failure.ts'
import { Advance, Name, Ref, Text, Wait, expectedOf, matchersOf, made } from '../language/parts.ts'
import { madeOf } from '../play/case-run.ts'
import type { CaseRun, MadePayment } from '../play/case-run.ts'
import { present } from '../member.ts'
import { visitBank } from './bank.ts'
import { numberOf } from './customers.ts'
import { form, verb, waits, comparison } from './verb.ts'
import type { Subject } from './verb.ts'

/**
 * The caps of a mandate, which is set up with its first payment; that payment's name is the mandate's too. How amounts
 * and periods must look is the service's matter.
 */
const MandateInput = z.strictObject({
  max_amount_per_payment: Text.optional(),
  periodic_limits: z.array(z.strictObject({ period: Text, max_amount: Text })).optional(),
  /** In the words of the Open Banking standard, or wrong on purpose; the two above are then left out. */
  control_parameters: z.record(Text, z.unknown()).optional(),
  /** When it ends; a year from now where neither is said. */
  valid_to: Text.optional(),
  valid_for: Advance.optional(),
})

const Pay = z.strictObject({
  as: Name.optional(),
  /** A payment to create again, with the same idempotency key and body. */
  repeat: Ref.payment.optional(),
  amount: Text.optional(),
  currency: Text.optional(),
  idempotency_key: Text.optional(),
  redirect_uri: Text.optional(),
  payer_name: Text.optional(),
  payer_email: Text.optional(),
  payer_phone: Text.optional(),
  remittance_reference: Text.optional(),
  debtor_bank_id: Text.optional(),
  debtor_account_scheme: DebtorAccountScheme.optional(),
  debtor_identification: Text.optional(),
  metadata: z.record(Text, Text).optional(),
  /** The customer whose account the payer pays from. */
  from: Ref.customer.optional(),
  /** Sets up a mandate with this first payment, whose name is then the mandate's too. */
  mandate: MandateInput.optional(),
  /** The mandate that it is made under, by its first payment: nothing is left for the payer to do. */
  consent: Ref.payment.optional(),
  /** How the mock bank behaves, such as insufficient-funds. */
  scenario: Text.optional(),
  /** What the payer does at the bank at once: short for a step `bank`. */
  bank: z.enum(['approve', 'cancel']).optional(),
  expect: expectedOf(CreatedPayment),
})

export const pay = verb({
  schema: Pay,
  text: "Creates a payment: a new one, the same key again (`repeat`), from a customer's account, or under a mandate.",
  examples: [
    'pay: { as: p1, amount: "50.00", currency: GBP }',
    'pay: { as: p1, amount: "50.00", currency: GBP, scenario: insufficient-funds, bank: approve }',
    'pay: { repeat: $p1, expect: { http: 200 } }',
    'pay: { as: m1, amount: "9.99", currency: GBP, mandate: { max_amount_per_payment: "20.00", valid_for: 90d } }',
    'pay: { amount: "5.00", currency: GBP, consent: $p1 }',
  ],
  makes: made('payment', CreatedPayment),
  async play(run, input, given) {
    const before = input.repeat === undefined ? undefined : repeated(run, input.repeat)
    const key = input.idempotency_key ?? before?.key ?? run.newKey('pay', given)
    const body = bodyOf(run, input, before?.body)
    const reply = await call(run.client, createPayment, { headers: { 'x-idempotency-key': key }, body })
    const created = reply.body
    const payment: MadePayment = { created, key, body }
    if (input.as !== undefined) run.captures.set(input.as, created)
    if (before === undefined || input.as !== undefined)
      run.made.push(Object.assign(payment, { kind: 'payment', name: input.as ?? '' } as const))
    refuseUnlike('the created payment', reply, { usual: before === undefined ? 201 : 200, expected: input.expect })
    // The key alone makes a repeat; with another key it is a payment of its own.
    if (before !== undefined && key === before.key && created.payment_id !== before.created.payment_id) {
      throw new StepFailure(
        `the repeat made another payment: ${created.payment_id} instead of ${before.created.payment_id}`,
      )
    }
    if (input.bank !== undefined) await visitBank(run, payment, { decision: input.bank })
  },
})

function repeated(run: CaseRun, reference: string): MadePayment {
  const payment = madeOf(run, 'payment', reference)
  if (payment.token === undefined) return payment
  throw new StepFailure(`${reference} was started with a checkout token`, {
    at: ['repeat'],
    hint: `checkout: { again: ${reference} }`,
  })
}

function bodyOf(run: CaseRun, input: z.infer<typeof Pay>, before: CreatePayment | undefined): CreatePayment {
  const { as: _as, repeat: _repeat, idempotency_key: _key, bank: _bank, expect: _expect, ...said } = input
  const { from, mandate, consent, ...fields } = said
  const payer = from === undefined ? undefined : numberOf(madeOf(run, 'customer', from))
  return {
    // A payment has both unless it repeats another, which then brings them: step-rules.ts sees to that.
    amount: '',
    currency: '',
    // Under a mandate no bank page is visited, so there is no return.
    ...(consent === undefined
      ? { redirect_uri: `${run.client.apiUrl}/payments/return` }
      : { consent_id: consentIdOf(run, consent) }),
    ...before,
    ...present(fields),
    ...mandateBody(mandate),
    ...(payer === undefined
      ? {}
      : { debtor_account_scheme: payer.SchemeName, debtor_identification: payer.Identification }),
  }
}

type MandateBody = Pick<CreatePayment, 'consent_type' | 'control_parameters' | 'valid_to'>

function mandateBody(input: z.output<typeof MandateInput> | undefined): MandateBody {
  if (input === undefined) return {}
  const { control_parameters, valid_for: lasts, valid_to, ...caps } = input
  const end = lasts === undefined ? valid_to : new Date(Date.now() + parseDuration(lasts)).toISOString()
  return {
    consent_type: 'VARIABLE_RECURRING',
    control_parameters: { ...control_parameters, ...present(caps) },
    ...(end === undefined ? {} : { valid_to: end }),
  }
}

/** A mandate goes by the name of the payment that set it up, or of any that was made under it. */
function consentIdOf(run: CaseRun, reference: string): string {
  return madeOf(run, 'payment', reference).created.consent_id
}

export async function paymentNow(run: Pick<CaseRun, 'client'>, id: string): Promise<Payment | PayerView> {
  return (await call(run.client, getPayment, { params: { id } })).body
}

export function withHistory<T extends Pick<Payment, 'status_history'>>(payment: T): T & { history: PaymentStatus[] } {
  return { ...payment, history: payment.status_history.map((change) => change.new_status) }
}

export const PAYMENT = {
  subject: 'A payment',
  awaits: [
    form({
      schema: z.strictObject({ payment: Ref.payment, status: PaymentStatus, within: Wait.optional() }),
      examples: ['await: { payment: $p1, status: Failed }'],
      play: waits(
        (run, { payment }) => paymentNow(run, madeOf(run, 'payment', payment).created.payment_id),
        ({ payment, status: wanted }) => ({
          what: payment,
          status: ({ status }) => status,
          isThere: ({ status, status_history: history }) =>
            status === wanted || history.some((change) => change.new_status === wanted),
          isOver: ({ status }) => !STILL_POSSIBLE[status].includes(wanted),
          now: ({ status, failure }) => (failure === null ? status : `${status} (${failure.code}: ${failure.reason})`),
          hint: (last, isOver) =>
            isOver
              ? undefined
              : last?.status === 'AwaitingAuthorisation'
                ? 'the payer has not decided yet: bank: { approve: $p1 } before this step'
                : 'use a longer within; svc status shows whether a worker runs',
        }),
      ),
    }),
  ],
  expects: [
    comparison({
      schema: z.strictObject({
        ...matchersOf(Payment),
        of: Ref.payment,
        /** The statuses that the payment has been in, in their order. */
        history: z.array(PaymentStatus).optional(),
      }),
      examples: ['expect: { of: $p1, failure: { code: ACCESS_DENIED } }'],
      what: ({ of }) => of,
      now: async (run, { of }) => withHistory(await paymentNow(run, madeOf(run, 'payment', of).created.payment_id)),
      beside: ['of'],
    }),
  ],
} as const satisfies Subject

async function consentNow(run: CaseRun, reference: string): Promise<Mandate> {
  return (await call(run.client, getConsent, { params: { id: consentIdOf(run, reference) } })).body
}

export const MANDATE = {
  subject: 'A mandate, by the name of its first payment',
  awaits: [
    form({
      schema: z.strictObject({ consent: Ref.payment, status: ConsentStatus, within: Wait.optional() }),
      examples: ['await: { consent: $p1, status: EXPIRED }'],
      play: waits(
        (run, { consent }) => consentNow(run, consent),
        ({ consent }) => ({
          what: `the mandate of ${consent}`,
          status: ({ status }) => status,
          isOver: ['REJECTED', 'REVOKED', 'EXPIRED'],
        }),
      ),
    }),
  ],
  expects: [
    comparison({
      schema: z.strictObject({ ...matchersOf(Mandate), consent: Ref.payment }),
      examples: ['expect: { consent: $p1, status: AUTHORISED }'],
      what: ({ consent }) => `the mandate of ${consent}`,
      now: (run, { consent }) => consentNow(run, consent),
      beside: ['consent'],
    }),
  ],
} as const satisfies Subject
