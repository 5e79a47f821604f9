import { z } from 'zod'
import { made } from './verb-table.ts'
import type { VerbTable } from './verb-table.ts'
import { Dispute, DisputeReason, DisputeStatus } from '../../../src/wire/disputes.ts'
import { DisputeReference, Name, PaymentReference, Text, Wait, expectedOf, matchersOf } from './parts.ts'

export const RaiseDispute = z.strictObject({
  payment: PaymentReference,
  /** Who raises it: the payer where nothing is said. */
  by: z.enum(['payer', 'merchant', 'platform']).optional(),
  reason: DisputeReason,
  statement: Text.optional(),
  as: Name.optional(),
  expect: expectedOf(Dispute),
})

export const Evidence = z.strictObject({ dispute: DisputeReference, text: Text, expect: expectedOf(Dispute) })

export const Accept = z.strictObject({
  dispute: DisputeReference,
  note: Text.optional(),
  refund: z.boolean().optional(),
  expect: expectedOf(Dispute),
})

export const Escalate = z.strictObject({
  dispute: DisputeReference,
  reason: Text,
  assignee: Text.optional(),
  expect: expectedOf(Dispute),
})

export const Resolve = z.strictObject({
  dispute: DisputeReference,
  favour: z.enum(['merchant', 'payer']),
  note: Text,
  refund: z.boolean().optional(),
  expect: expectedOf(Dispute),
})

export const AwaitDispute = z.strictObject({
  dispute: DisputeReference,
  status: DisputeStatus,
  within: Wait.optional(),
})

/** A dispute that somebody else raised about the payment: the newest one, which gets a name. */
export const AwaitDisputeOf = z.strictObject({
  dispute_of: PaymentReference,
  as: Name.optional(),
  status: DisputeStatus.optional(),
  within: Wait.optional(),
})

export const ExpectDispute = z.strictObject({
  ...matchersOf(Dispute),
  dispute: DisputeReference,
  /** The statuses that the dispute has been in, in their order. */
  history: z.array(DisputeStatus).optional(),
})

export const DISPUTE_VERBS = {
  dispute: {
    schema: RaiseDispute,
    text: 'Raises a dispute as the payer, the merchant or the platform.',
    examples: ['dispute: { payment: $p1, by: payer, reason: ITEM_NOT_RECEIVED, as: d1 }'],
    makes: made('dispute', Dispute),
  },
  evidence: {
    schema: Evidence,
    text: 'Submits evidence as the merchant.',
    examples: ['evidence: { dispute: $d1, text: "signed for on Monday" }'],
  },
  accept: {
    schema: Accept,
    text: 'Accepts the dispute as the merchant.',
    examples: ['accept: { dispute: $d1, refund: true }'],
  },
  escalate: {
    schema: Escalate,
    text: 'Passes the dispute to the OWNER of the platform.',
    examples: ['escalate: { dispute: $d1, reason: "a large amount" }'],
  },
  resolve: {
    schema: Resolve,
    text: 'Resolves the dispute.',
    examples: ['resolve: { dispute: $d1, favour: payer, note: "nothing arrived", refund: true }'],
  },
} as const satisfies VerbTable
