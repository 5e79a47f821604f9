import { cancelRecurring, createRecurring, getRecurring } from '../../../src/wire/recurring.ts'
import type { RecurringPaymentResponse } from '../../../src/wire/recurring.ts'
import { call } from '../../client/call.ts'
import { EVENING, MORNING, firstMoment, momentOf } from '../../base/moments.ts'
import { awaitThat } from '../play/await-that.ts'
import { keep, madeOf, readInput } from '../play/case-run.ts'
import type { CaseRun, MadeCustomer } from '../play/case-run.ts'
import { refuseDifferences, refuseStatus } from '../assert-matches.ts'
import { AwaitRecurring, CancelRecurring, ExpectRecurring, RecurringStep } from '../language/instructions.ts'
import { differencesOf } from '../matchers.ts'
import { clientOf, payeeOf } from './customers.ts'
import { refuseUnlike } from './refuse-unlike.ts'

const TOMORROW = '1d'

/** Orders a payment that repeats, as the customer, or cancels one. */
export async function recurring(run: CaseRun, given: unknown): Promise<void> {
  if (CancelRecurring.safeParse(given).success) return cancel(run, given)
  const input = readInput(run, RecurringStep, given)
  const payer = madeOf(run, 'customer', input.from)
  const { first = TOMORROW, next, final } = input
  const reply = await call(clientOf(run, payer), createRecurring, {
    headers: { 'x-idempotency-key': input.idempotency_key ?? run.newKey('recurring', given) },
    body: {
      Frequency: input.frequency,
      FirstPaymentDateTime: await firstMoment(first, 'first'),
      NextPaymentDateTime: next === undefined ? undefined : await momentOf(next, 'next', MORNING),
      FinalPaymentDateTime: final === undefined ? undefined : await momentOf(final, 'final', EVENING),
      InstructedAmount: { Amount: input.amount, Currency: input.currency ?? payer.account.currency },
      CreditorAccount: payeeOf(run, input.to),
      RemittanceInformation: input.reference === undefined ? undefined : { Reference: input.reference },
    },
  })
  keep(run, input.as, { kind: 'recurring', customer: payer, id: reply.body.RecurringPaymentId }, reply.body)
  refuseUnlike('the recurring payment', reply, { usual: 201, expected: input.expect })
}

async function cancel(run: CaseRun, given: unknown): Promise<void> {
  const { cancel: reference, by, expect } = readInput(run, CancelRecurring, given)
  const { customer, id } = madeOf(run, 'recurring', reference)
  const client = clientOf(run, byOr(run, by, customer))
  const { status } = await call(client, cancelRecurring, { params: { RecurringPaymentId: id } })
  refuseStatus(status, expect?.http ?? 204)
}

function byOr(run: CaseRun, by: string | undefined, customer: MadeCustomer): MadeCustomer {
  return by === undefined ? customer : madeOf(run, 'customer', by)
}

export async function awaitRecurring(run: CaseRun, given: unknown): Promise<void> {
  const { recurring: reference, status, payments, within } = readInput(run, AwaitRecurring, given)
  const count = payments === undefined ? '' : paymentsText(payments)
  await awaitThat(run, {
    what: reference,
    wanted: [status ?? '', count].filter((text) => text !== '').join(' after '),
    within,
    look: () => recurringNow(run, reference),
    isThere: ({ Status, NumberOfPayments: made }) =>
      (status === undefined || Status === status) && (payments === undefined || made >= payments),
    isOver,
    now: ({ Status, NumberOfPayments: made }) => `${Status} after ${paymentsText(made)}`,
    at: status === undefined ? 'payments' : 'status',
    hint: (last, isEnd) =>
      isEnd ? undefined : `clock: { advance: 1d } before this step; the next is due at ${last?.NextRunDateTime ?? '-'}`,
  })
}

function isOver({ Status, NextRunDateTime }: RecurringPaymentResponse): boolean {
  return Status === 'Cancelled' || Status === 'InitiationFailed' || NextRunDateTime === undefined
}

function paymentsText(count: number): string {
  return `${count} ${count === 1 ? 'payment' : 'payments'}`
}

export async function expectRecurring(run: CaseRun, given: unknown): Promise<void> {
  const { recurring: reference, by, ...expected } = readInput(run, ExpectRecurring, given)
  refuseDifferences(reference, differencesOf(expected, await recurringNow(run, reference, by)))
}

async function recurringNow(run: CaseRun, reference: string, by?: string): Promise<RecurringPaymentResponse> {
  const { customer, id } = madeOf(run, 'recurring', reference)
  const client = clientOf(run, byOr(run, by, customer))
  return (await call(client, getRecurring, { params: { RecurringPaymentId: id } })).body
}
