import { hasMovedMoney } from '../../src/lib/payment-status.ts'
import { DisputeReason } from '../../src/wire/dispute-fields.ts'
import { disputeAsPayer, raiseAdminDispute, raiseDispute } from '../../src/wire/disputes.ts'
import type { AdminDispute, Dispute } from '../../src/wire/dispute-fields.ts'
import { meansAllMerchants } from '../client/auth/acting-side.ts'
import { endOfId } from '../base/text.ts'
import { action } from '../kit/action.ts'
import type { Flags } from '../kit/action.ts'
import type { Context } from '../kit/context.ts'
import type { DisputedPayment } from './find.ts'
import { disputedOf } from './subject.ts'
import { printDispute } from './view.ts'

const flags = {
  reason: {
    value: 'reason',
    summary: 'Reason of the dispute',
    label: 'Why',
    required: true,
    choices: DisputeReason.options,
  },
  statement: {
    value: 'words',
    summary: 'Statement: what happened',
    label: 'In words; both sides read it',
    long: true,
    file: true,
  },
} as const satisfies Flags

export const payerFlags = {
  ...flags,
  statement: { ...flags.statement, member: 'payer_statement' },
} as const satisfies Flags

export const raising = {
  applies: hasMovedMoney,
  facts: ({ status }: DisputedPayment) => status,
  done: (_payment: DisputedPayment, { id }: { id: string }) => `opened the dispute ${endOfId(id)}`,
  effect: ({ payment_id: id, gross_amount: amount, currency }: DisputedPayment, { reason }: { reason: string }) =>
    `dispute payment ${endOfId(id)} of ${amount} ${currency}: ${reason}`,
} as const

const raiseOwn = action({
  ...raising,
  command: 'disputes raise',
  summary: 'Dispute a settled or refunded payment',
  details:
    'The dispute is opened in the name of the merchant or the operator who is signed in; in the sandbox also in that of\nthe payer.',
  examples: [
    'svc disputes raise a2b4358c --reason DUPLICATE_PAYMENT --statement "the payer paid this order twice"',
    'svc disputes raise a2b4358c --reason OTHER --file report.txt',
    'svc disputes raise a2b4358c --as-payer --reason ITEM_NOT_RECEIVED --statement "lost"',
  ],
  subject: disputedOf(async () => 'merchant'),
  flags,
  operation: raiseDispute,
  key: { letter: 'x', label: 'dispute', needs: 'one' },
  view: (context, reply) => printRaised(context, reply, 'evidence'),
})

const raiseForPlatform = action({
  ...raising,
  command: 'disputes raise --as-operator',
  summary: 'dispute a payment for the platform; the merchant is asked for its evidence',
  examples: ['svc disputes raise --as-operator a2b4358c --reason UNAUTHORISED --statement "reported as fraud"'],
  subject: disputedOf(async () => 'platform'),
  flags,
  operation: raiseAdminDispute,
  key: { letter: 'x', label: 'dispute', needs: 'one' },
  view: (context, reply) => printRaised(context, reply, 'show'),
})

const raiseLikePayer = action({
  ...raising,
  command: 'disputes raise --as-payer',
  summary: 'dispute a payment as its payer would, in the sandbox',
  examples: ['svc disputes raise --as-payer a2b4358c --reason ITEM_NOT_RECEIVED --statement "lost"'],
  subject: disputedOf(async (client) => ((await meansAllMerchants(client, false)) ? 'platform' : 'merchant')),
  flags: payerFlags,
  operation: disputeAsPayer,
  view: (context, reply) => printRaised(context, reply, 'evidence'),
})

function printRaised(context: Context, raised: Dispute | AdminDispute, next: 'evidence' | 'show'): void {
  printDispute(context, raised)
  if (!context.print.isMachine) context.note(`Next: svc disputes ${next} ${raised.id}`)
}

export const RAISE_ACTIONS = { merchant: raiseOwn, platform: raiseForPlatform, payer: raiseLikePayer } as const
