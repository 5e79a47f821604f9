import { z } from 'zod'
import { made } from './verb-table.ts'
import type { VerbTable } from './verb-table.ts'
import { OfferToPayResponse, PaymentRequestStatus, RequestToPayResponse } from '../../../src/wire/payment-requests.ts'
import { RecurringPaymentResponse, RecurringStatus } from '../../../src/wire/recurring.ts'
import {
  CustomerReference,
  ExpectedStatus,
  Name,
  OfferReference,
  RecurringReference,
  RequestReference,
  Text,
  Wait,
  expectedOf,
  matchersOf,
} from './parts.ts'

/** A moment, in the words of `svc ob recurring`. */
const When = Text.meta({
  description:
    'now, a time from now such as 10m, a day such as 14d from today or 2026-12-01 (09:00 in London), or a time',
  examples: ['1d'],
})

const creating = {
  as: Name.optional(),
  amount: Text,
  currency: Text.optional(),
  reference: Text.optional(),
  idempotency_key: Text.optional(),
}

/** A customer, or an account anywhere. */
export const Payee = z.union([
  CustomerReference,
  z.strictObject({ SchemeName: Text, Identification: Text, Name: Text.optional() }),
])

/** A standing order. */
export const RecurringStep = z.strictObject({
  ...creating,
  from: CustomerReference,
  to: Payee,
  /** EvryDay, EvryWorkgDay, IntrvlWkDay:.. or IntrvlMnthDay:.. */
  frequency: Text,
  /** Tomorrow where nothing is said. */
  first: When.optional(),
  next: When.optional(),
  final: When.optional(),
  expect: expectedOf(RecurringPaymentResponse),
})

export const CancelRecurring = z.strictObject({
  cancel: RecurringReference,
  /** Who tries it: whoever ordered it where nothing is said. */
  by: CustomerReference.optional(),
  expect: z.strictObject({ http: ExpectedStatus }).optional(),
})

const waiting = { within: Wait.optional() }

/** Waits for a status, for as many payments, or for both. */
export const AwaitRecurring = z
  .strictObject({
    recurring: RecurringReference,
    status: RecurringStatus.optional(),
    payments: z.int().min(1).optional(),
    ...waiting,
  })
  .refine(({ status, payments }) => status !== undefined || payments !== undefined, {
    message: 'takes one or both of status and payments',
  })
/** `by` is who looks: whoever made it where nothing is said. */
const looking = { by: CustomerReference.optional() }
export const ExpectRecurring = z.strictObject({
  ...matchersOf(RecurringPaymentResponse),
  recurring: RecurringReference,
  ...looking,
})

const asked = {
  ...creating,
  /** Who makes it. */
  from: CustomerReference,
  /** Whom it is sent to; for somebody else an e-mail address, a mobile number or a proxy id instead. */
  to: CustomerReference.optional(),
  identifier: Text.optional(),
  /** By what a customer is found: the e-mail address where nothing is said. */
  found_by: z.enum(['email', 'mobile', 'proxy_id']).optional(),
  /** The maker's own where nothing is said. */
  name: Text.optional(),
}

const isSent = ({ to, identifier }: { to?: string | undefined; identifier?: string | undefined }): boolean =>
  (to === undefined) !== (identifier === undefined)
const SENT = { message: 'takes one of to and identifier' }

/** A payee asks a payer for money. */
export const RequestStep = z
  .strictObject({
    ...asked,
    /** In a week where nothing is said. */
    due: When.optional(),
    expect: expectedOf(RequestToPayResponse),
  })
  .refine(isSent, SENT)
/** A payer offers money to a payee. */
export const OfferStep = z.strictObject({ ...asked, expect: expectedOf(OfferToPayResponse) }).refine(isSent, SENT)

const decided = {
  /** Who decides: whoever it was sent to for accept and reject, whoever made it for cancel. */
  by: CustomerReference.optional(),
  /** Which account of who accepts is meant. */
  account_id: Text.optional(),
}

type Decision = { accept?: string | undefined; reject?: string | undefined; cancel?: string | undefined }
const hasOne = ({ accept, reject, cancel }: Decision): boolean =>
  [accept, reject, cancel].filter((one) => one !== undefined).length === 1
const ONE = { message: 'takes one of accept, reject and cancel' }

export const DecideRequest = z
  .strictObject({
    accept: RequestReference.optional(),
    reject: RequestReference.optional(),
    cancel: RequestReference.optional(),
    ...decided,
    expect: expectedOf(RequestToPayResponse),
  })
  .refine(hasOne, ONE)
export const DecideOffer = z
  .strictObject({
    accept: OfferReference.optional(),
    reject: OfferReference.optional(),
    cancel: OfferReference.optional(),
    ...decided,
    expect: expectedOf(OfferToPayResponse),
  })
  .refine(hasOne, ONE)

export const AwaitRequest = z.strictObject({ request: RequestReference, status: PaymentRequestStatus, ...waiting })
export const AwaitOffer = z.strictObject({ offer: OfferReference, status: PaymentRequestStatus, ...waiting })
export const ExpectRequest = z.strictObject({
  ...matchersOf(RequestToPayResponse),
  request: RequestReference,
  ...looking,
})
export const ExpectOffer = z.strictObject({ ...matchersOf(OfferToPayResponse), offer: OfferReference, ...looking })

export const INSTRUCTION_VERBS = {
  recurring: {
    schema: z.union([RecurringStep, CancelRecurring]),
    text: 'Creates or cancels a standing order.',
    examples: [
      'recurring: { as: s1, from: $c1, to: $c2, amount: "10.00", frequency: EvryDay, first: 1d }',
      'recurring: { cancel: $s1 }',
    ],
    makes: made('recurring', RecurringPaymentResponse),
  },
  request: {
    schema: z.union([RequestStep, DecideRequest]),
    text: 'Requests money. The other side accepts or rejects, the author cancels.',
    examples: ['request: { as: r1, from: $c2, to: $c1, amount: "10.00" }', 'request: { accept: $r1 }'],
    makes: made('request', RequestToPayResponse),
  },
  offer: {
    schema: z.union([OfferStep, DecideOffer]),
    text: 'Offers money, likewise.',
    examples: ['offer: { as: f1, from: $c1, to: $c2, amount: "10.00" }', 'offer: { reject: $f1 }'],
    makes: made('offer', OfferToPayResponse),
  },
} as const satisfies VerbTable
