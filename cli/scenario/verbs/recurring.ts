import { z } from 'zod'
import {
  RecurringPaymentResponse,
  RecurringStatus,
  cancelRecurring,
  createRecurring,
  getRecurring,
} from '../../../src/wire/recurring.ts'
import { EVENING, MORNING, firstMoment, momentOf } from '../../base/moments.ts'
import { call } from '../../client/call.ts'
import { ExpectedStatus, Ref, Text, Wait, expectedOf, matchersOf, made } from '../language/parts.ts'
import { madeOf } from '../play/case-run.ts'
import type { CaseRun } from '../play/case-run.ts'
import { Payee, asCustomer, payeeOf } from './customers.ts'
import { When, amountOf, by, creating, otherwise } from './instructions.ts'
import { form, sends, verb, waits, comparison } from './verb.ts'
import type { Subject } from './verb.ts'

const RecurringStep = z.strictObject({
  ...creating,
  to: Payee,
  /** EvryDay, EvryWorkgDay, IntrvlWkDay:.. or IntrvlMnthDay:.. */
  frequency: Text,
  /** Tomorrow where nothing is said. */
  first: When.optional(),
  next: When.optional(),
  final: When.optional(),
  expect: expectedOf(RecurringPaymentResponse),
})
const CancelRecurring = z.strictObject({
  cancel: Ref.recurring,
  by,
  expect: z.strictObject({ http: ExpectedStatus }).optional(),
})

const TOMORROW = '1d'

const orderRecurring = sends<z.output<typeof RecurringStep>, typeof createRecurring>({
  operation: createRecurring,
  what: 'the recurring payment',
  by: (run, { from }) => asCustomer(run, from),
  request: async (run, { first = TOMORROW, next, final, ...input }) => ({
    body: {
      Frequency: input.frequency,
      FirstPaymentDateTime: await firstMoment(first, 'first'),
      NextPaymentDateTime: next === undefined ? undefined : await momentOf(next, 'next', MORNING),
      FinalPaymentDateTime: final === undefined ? undefined : await momentOf(final, 'final', EVENING),
      InstructedAmount: amountOf(run, input),
      CreditorAccount: payeeOf(run, input.to),
      RemittanceInformation: input.reference === undefined ? undefined : { Reference: input.reference },
    },
  }),
  made: (run, body, { from }) => ({
    kind: 'recurring',
    customer: madeOf(run, 'customer', from),
    id: body.RecurringPaymentId,
  }),
})
const endRecurring = sends<z.output<typeof CancelRecurring>, typeof cancelRecurring>({
  operation: cancelRecurring,
  what: 'the answer',
  by: (run, input) => otherwise(run, input.by, madeOf(run, 'recurring', input.cancel).customer),
  request: (run, { cancel }) => ({ params: { RecurringPaymentId: madeOf(run, 'recurring', cancel).id } }),
})

export const recurring = verb({
  schema: z.union([RecurringStep, CancelRecurring]),
  text: 'Creates or cancels a standing order.',
  examples: [
    'recurring: { as: s1, from: $c1, to: $c2, amount: "10.00", frequency: EvryDay, first: 1d }',
    'recurring: { cancel: $s1 }',
  ],
  makes: made('recurring', RecurringPaymentResponse),
  play: (run, input, given) =>
    'cancel' in input ? endRecurring(run, input, given) : orderRecurring(run, input, given),
})

async function recurringNow(run: CaseRun, reference: string, viewer?: string): Promise<RecurringPaymentResponse> {
  const { customer, id } = madeOf(run, 'recurring', reference)
  return (await call(otherwise(run, viewer, customer), getRecurring, { params: { RecurringPaymentId: id } })).body
}

function paymentsText(count: number): string {
  return `${count} ${count === 1 ? 'payment' : 'payments'}`
}

export const RECURRING = {
  subject: 'A standing order and the number of its payments',
  awaits: [
    form({
      schema: z
        .strictObject({
          recurring: Ref.recurring,
          status: RecurringStatus.optional(),
          payments: z.int().min(1).optional(),
          within: Wait.optional(),
        })
        .refine(({ status, payments }) => status !== undefined || payments !== undefined, {
          message: 'takes one or both of status and payments',
        }),
      examples: ['await: { recurring: $s1, payments: 3 }'],
      play: waits(
        (run, input) => recurringNow(run, input.recurring),
        ({ recurring: reference, status, payments = 0 }) => ({
          what: reference,
          wanted: [status ?? '', payments === 0 ? '' : paymentsText(payments)]
            .filter((text) => text !== '')
            .join(' after '),
          status: ({ Status, NumberOfPayments: count }) => `${Status} after ${paymentsText(count)}`,
          isThere: ({ Status, NumberOfPayments: count }) =>
            (status === undefined || Status === status) && count >= payments,
          isOver: ({ Status, NextRunDateTime: next }) =>
            Status === 'Cancelled' || Status === 'InitiationFailed' || next === undefined,
          at: status === undefined ? 'payments' : 'status',
          hint: (last, isOver) =>
            isOver
              ? undefined
              : `clock: { advance: 1d } before this step; the next is due at ${last?.NextRunDateTime ?? '-'}`,
        }),
      ),
    }),
  ],
  expects: [
    comparison({
      schema: z.strictObject({ ...matchersOf(RecurringPaymentResponse), recurring: Ref.recurring, by }),
      examples: ['expect: { recurring: $s1, Status: InitiationCompleted }'],
      what: ({ recurring: reference }) => reference,
      now: (run, input) => recurringNow(run, input.recurring, input.by),
      beside: ['recurring', 'by'],
    }),
  ],
} as const satisfies Subject
