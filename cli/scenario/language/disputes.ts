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
} as const satisfies VerbTable
