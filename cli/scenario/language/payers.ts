import { z } from 'zod'
import { made } from './verb-table.ts'
import type { VerbTable } from './verb-table.ts'
import { PayerDispute, PayerReceipt, PayerSession } from '../../../src/wire/payer.ts'
import { DisputeReason } from '../../../src/wire/disputes.ts'
import { PaymentStatus } from '../../../src/wire/payments.ts'
import {
  LinkReference,
  Matcher,
  Name,
  PayerReference,
  PaymentReference,
  Text,
  Wait,
  expectedOf,
  matchersOf,
} from './parts.ts'

/** A payer asks for a link, and looks for it where the sandbox keeps its mail. */
export const PayerLink = z.strictObject({
  /** An e-mail address or a phone number. */
  contact: Text,
  as: Name.optional(),
  /** Whether a link comes: who has paid nothing is sent none. */
  arrives: z.boolean().optional(),
  within: Wait.optional(),
})

/** A link is opened: it works once. `token` is for one that is made up. */
export const PayerVerify = z
  .strictObject({
    link: LinkReference.optional(),
    token: Text.optional(),
    as: Name.optional(),
    expect: expectedOf(PayerSession.pick({ contact: true, expires_in: true, token_type: true })),
  })
  .refine(
    ({ link, token }) => (link === undefined) !== (token === undefined),
    'payer.verify takes one of link and token',
  )

export const PayerSignOut = z.strictObject({ payer: PayerReference })

/** What a list of the hub holds: how many there are, and the newest of them, the newest first. */
const listed = {
  payer: PayerReference,
  count: Matcher.optional(),
  newest: z.array(Matcher).max(50).optional(),
}
export const PayerPayments = z.strictObject(listed)
export const PayerConsents = z.strictObject(listed)

export const PayerDisputeStep = z.strictObject({
  payer: PayerReference,
  payment: PaymentReference,
  reason: DisputeReason,
  statement: Text.optional(),
  as: Name.optional(),
  expect: expectedOf(PayerDispute),
})

/** A payment as its payer sees it in the hub. */
export const ExpectReceipt = z.strictObject({
  ...matchersOf(PayerReceipt),
  receipt: PaymentReference,
  payer: PayerReference,
  /** The statuses that the payment has been in, in their order. */
  history: z.array(PaymentStatus).optional(),
})

export const PAYER_VERBS = {
  'payer.link': {
    schema: PayerLink,
    text: 'Requests a sign-in link; `arrives: false` where none may come.',
    examples: ['payer.link: { as: link, contact: ada@example.org }'],
    makes: { kind: 'link', members: ['contact'] },
  },
  'payer.verify': {
    schema: PayerVerify,
    text: 'Opens the link, or an invented `token`.',
    examples: ['payer.verify: { as: ada, link: $link }'],
    makes: { kind: 'payer', members: ['contact'] },
  },
  'payer.payments': {
    schema: PayerPayments,
    text: 'Checks the payments that the hub lists.',
    examples: [
      'payer.payments: { payer: $ada, count: 1 }',
      'payer.payments: { payer: $ada, count: 1, newest: [{ status: Settled }] }',
    ],
  },
  'payer.consents': {
    schema: PayerConsents,
    text: 'Checks the mandates that the hub lists.',
    examples: ['payer.consents: { payer: $ada, count: 0 }'],
  },
  'payer.dispute': {
    schema: PayerDisputeStep,
    text: 'Disputes a payment in the hub.',
    examples: ['payer.dispute: { as: d1, payer: $ada, payment: $p1, reason: ITEM_NOT_RECEIVED }'],
    makes: made('dispute', PayerDispute),
  },
  'payer.sign_out': {
    schema: PayerSignOut,
    text: 'Ends the session of the payer.',
    examples: ['payer.sign_out: { payer: $ada }'],
  },
} as const satisfies VerbTable
