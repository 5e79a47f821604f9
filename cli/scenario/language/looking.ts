import { z } from 'zod'
import { Dispute } from '../../../src/wire/disputes.ts'
import { AwaitAccount, AwaitOrder, ExpectAccount, ExpectBooks, ExpectOrder } from './customers.ts'
import { AwaitDispute, AwaitDisputeOf, ExpectDispute } from './disputes.ts'
import {
  AwaitOffer,
  AwaitRecurring,
  AwaitRequest,
  ExpectOffer,
  ExpectRecurring,
  ExpectRequest,
} from './instructions.ts'
import { AwaitConsent, ExpectConsent } from './mandates.ts'
import { ExpectAudit, ExpectMerchant } from './merchant.ts'
import { ExpectReceipt } from './payers.ts'
import { AwaitPayment, ExpectPayment } from './payments.ts'
import { made } from './verb-table.ts'
import type { VerbTable } from './verb-table.ts'
import { AwaitWebhook, ExpectWebhook } from './webhooks.ts'

/** The verbs that look at things, whatever these are. */
export const LOOKING_VERBS = {
  await: {
    schema: z.union([
      AwaitPayment,
      AwaitWebhook,
      AwaitDispute,
      AwaitDisputeOf,
      AwaitOrder,
      AwaitAccount,
      AwaitConsent,
      AwaitRecurring,
      AwaitRequest,
      AwaitOffer,
    ]),
    text: 'Waits for a status; one that was passed in the meantime counts too.',
    examples: ['await: { payment: $p1, status: Settled, within: 10s }'],
    makes: made('dispute', Dispute),
  },
  expect: {
    schema: z.union([
      ExpectPayment,
      ExpectWebhook,
      ExpectDispute,
      ExpectOrder,
      ExpectAccount,
      ExpectBooks,
      ExpectConsent,
      ExpectReceipt,
      ExpectRecurring,
      ExpectRequest,
      ExpectOffer,
      ExpectMerchant,
      ExpectAudit,
    ]),
    text: 'Checks how things are now.',
    examples: [
      'expect: { of: $p1, status: Settled }',
      'expect: { of: $p1, status: Settled, history: [AwaitingAuthorisation, Authorised, Settled] }',
    ],
  },
} as const satisfies VerbTable

/** What the two verbs that look at things can look at. */
export const MATCHED: readonly { subject: string; awaits: readonly string[]; expects: readonly string[] }[] = [
  {
    subject: 'A payment',
    awaits: ['await: { payment: $p1, status: Failed }'],
    expects: ['expect: { of: $p1, failure: { code: ACCESS_DENIED } }'],
  },
  {
    subject: 'A delivery and its payload',
    awaits: ['await: { webhook: payment.settled, for: $p1, status: DELIVERED }'],
    expects: [
      'expect: { webhook: payment.settled, for: $p1, attempt_count: 1, payload: { eventType: payment.settled } }',
    ],
  },
  {
    subject: 'A dispute; one that another caller raised gets a name',
    awaits: ['await: { dispute: $d1, status: UNDER_REVIEW }', 'await: { dispute_of: $p1, as: d2 }'],
    expects: ['expect: { dispute: $d1, evidence_missing: true }'],
  },
  {
    subject: 'A mandate, by the name of its first payment',
    awaits: ['await: { consent: $p1, status: EXPIRED }'],
    expects: ['expect: { consent: $p1, status: AUTHORISED }'],
  },
  {
    subject: 'A payment as its payer sees it in the hub',
    awaits: [],
    expects: ['expect: { receipt: $p1, payer: $ada, status: Settled }'],
  },
  {
    subject: "An account: a customer's, or `$merchant`, the settlement account",
    awaits: ['await: { account: $c1, balance: "70.00" }'],
    expects: ['expect: { account: $merchant, balance: "30.00" }'],
  },
  {
    subject: 'An order over the Open Banking API',
    awaits: ['await: { order: $o1, status: Rejected }'],
    expects: ['expect: { order: $o1, Status: Rejected, StatusReasonCode: AM04 }'],
  },
  {
    subject: 'A standing order and the number of its payments',
    awaits: ['await: { recurring: $s1, payments: 3 }'],
    expects: ['expect: { recurring: $s1, Status: InitiationCompleted }'],
  },
  {
    subject: 'A request, an offer',
    awaits: ['await: { request: $r1, status: Paid }'],
    expects: ['expect: { offer: $f1, Status: Rejected }'],
  },
  {
    subject: 'A merchant as operators see it',
    awaits: [],
    expects: ['expect: { merchant: $other, payout_held: true }'],
  },
  {
    subject: 'The newest entry of an action in the audit trail',
    awaits: [],
    expects: ['expect: { audit: merchant.hold }'],
  },
  {
    subject: 'All accounts of the bank: no money was created or lost',
    awaits: [],
    expects: ['expect: { books: balanced }'],
  },
]
