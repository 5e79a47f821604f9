import {
  disputeAsPayer,
  escalateDispute,
  raiseAdminDispute,
  resolveDispute,
  submitEvidence,
} from '../../../src/wire/disputes.ts'
import type { DisputeReason } from '../../../src/wire/dispute-fields.ts'
import { call } from '../../client/call.ts'
import type { Client } from '../../client/call.ts'
import type { MadePayment } from './make-payments.ts'
import { EVIDENCE, STATEMENTS } from './words.ts'

/** How far a dispute comes: opened, answered with evidence, escalated, or decided. */
type SampleDispute = {
  reason: DisputeReason
  by?: 'platform'
  until: 'opened' | 'answered' | 'escalated' | 'merchant' | 'payer'
}

const SAMPLES: readonly SampleDispute[] = [
  { reason: 'ITEM_NOT_RECEIVED', until: 'answered' },
  { reason: 'DUPLICATE_PAYMENT', until: 'opened' },
  { reason: 'OTHER', until: 'answered' },
  { reason: 'INCORRECT_AMOUNT', until: 'answered' },
  { reason: 'UNAUTHORISED', until: 'escalated' },
  { reason: 'ITEM_NOT_RECEIVED', until: 'merchant' },
  { reason: 'DUPLICATE_PAYMENT', until: 'payer' },
  { reason: 'UNAUTHORISED', by: 'platform', until: 'opened' },
  { reason: 'OTHER', until: 'opened' },
]

/** Disputes some of the payments, at most one in five of those that can be. Returns how many. */
export async function makeDisputes(client: Client, payments: readonly MadePayment[]): Promise<number> {
  const open = payments.filter(({ status, isWhole }) => status === 'Settled' && isWhole)
  const samples = SAMPLES.slice(0, Math.ceil(open.length / 5))
  for (const [index, sample] of samples.entries()) {
    const payment = open[index * Math.floor(open.length / samples.length)]
    if (payment !== undefined) await makeDispute(client, sample, payment)
  }
  return samples.length
}

async function makeDispute(client: Client, sample: SampleDispute, payment: MadePayment): Promise<void> {
  const { reason, until } = sample
  const id = await raise(client, sample, payment)
  if (until === 'opened') return
  const params = { id }
  await call(payment.shop.client, submitEvidence, { params, body: { merchant_evidence: EVIDENCE } })
  if (until === 'answered') return
  if (until === 'escalated') {
    const body = { reason: 'The third of its kind this week', assignee: 'grace@pay.example' }
    await call(client, escalateDispute, { params, body })
    return
  }
  const isPayers = until === 'payer'
  await call(client, resolveDispute, {
    params,
    body: {
      status: isPayers ? 'RESOLVED_PAYER_FAVOUR' : 'RESOLVED_MERCHANT_FAVOUR',
      resolution_note: isPayers ? 'Both payments are of one order' : `Signed for at the door (${reason})`,
      refund: isPayers,
    },
  })
}

async function raise(client: Client, { reason, by }: SampleDispute, payment: MadePayment): Promise<string> {
  const params = { id: payment.id }
  if (by === 'platform') {
    const body = { reason, statement: "Reported by the payer's bank" }
    return (await call(client, raiseAdminDispute, { params, body })).body.id
  }
  const body = { reason, payer_statement: STATEMENTS[reason] }
  return (await call(client, disputeAsPayer, { params, body })).body.id
}
