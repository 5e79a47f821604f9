import type { z } from 'zod'
import { leaveContact } from '../../../src/wire/payer.ts'
import { cancelPayment as cancelOperation, completeSca } from '../../../src/wire/payments.ts'
import type { ScaComplete } from '../../../src/wire/payments.ts'
import { withPaymentState } from '../../client/auth/credentials.ts'
import { call } from '../../client/call.ts'
import type { Client } from '../../client/call.ts'
import { madeOf, readInput } from '../play/case-run.ts'
import type { CaseRun, MadePayment } from '../play/case-run.ts'
import { StepFailure } from '../failure.ts'
import { PayerCancel, PayerContactStep, Sca } from '../language/checkout.ts'
import { contactOf } from './contacts.ts'
import { refuseUnlike } from './refuse-unlike.ts'

/** Brings the bank's answer to the service: the payer's own, or one that is wrong on purpose. */
export async function sca(run: CaseRun, given: unknown): Promise<void> {
  const input = readInput(run, Sca, given)
  const payment = madeOf(run, 'payment', input.payment)
  const reply = await call(run.client, completeSca, {
    params: { id: payment.created.payment_id },
    body: returnOf(payment, input),
  })
  refuseUnlike('the answer', reply, { usual: 200, expected: input.expect })
}

/** A return says a code or an error; which of them the bank gave is used where the step says neither. */
function returnOf(payment: MadePayment, input: z.output<typeof Sca>): ScaComplete {
  const state = input.state ?? stateOf(payment, input.payment)
  if (input.error !== undefined)
    return {
      state,
      error: input.error,
      ...(input.error_description === undefined ? {} : { error_description: input.error_description }),
    }
  if (input.code !== undefined) return { state, code: input.code }
  if (payment.sentBack !== undefined) return { ...payment.sentBack, state }
  throw new StepFailure(`the bank has not sent the payer of ${input.payment} back with anything yet`, {
    at: ['payment'],
    hint: `bank: { approve: ${input.payment}, returns: false } before this step; or a code or an error here`,
  })
}

export async function cancelPayment(run: CaseRun, given: unknown): Promise<void> {
  const input = readInput(run, PayerCancel, given)
  const payment = madeOf(run, 'payment', input.payment)
  const params = { id: payment.created.payment_id }
  const reply = await call(asItsPayer(run, payment, input.payment), cancelOperation, { params })
  refuseUnlike(input.payment, reply, { usual: 200, expected: input.expect })
}

/** The payer of a checkout says by which address or number the payment shall be found. */
export async function contact(run: CaseRun, given: unknown): Promise<void> {
  const input = readInput(run, PayerContactStep, given)
  const payment = madeOf(run, 'payment', input.payment)
  await call(asItsPayer(run, payment, input.payment), leaveContact, {
    params: { id: payment.created.payment_id },
    body: contactOf(input.contact),
  })
}

function asItsPayer(run: CaseRun, payment: MadePayment, reference: string): Client {
  return withPaymentState(run.client, stateOf(payment, reference))
}

/** What the payer's browser proves itself with: it stands in the address of the bank's page. */
function stateOf({ created }: MadePayment, reference: string): string {
  const { payment_state: told, redirect_url: page } = created
  const state = told ?? (page === null ? null : new URL(page).searchParams.get('state'))
  if (state !== null) return state
  throw new StepFailure(`${reference} has no payer at a bank: it was made under a mandate`, {
    at: ['payment'],
    hint: 'state: "…" to send one that is made up',
  })
}
