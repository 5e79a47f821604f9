import type { z } from 'zod'
import {
  acceptDispute,
  disputeAsPayer,
  escalateDispute,
  getDispute,
  listDisputes,
  raiseAdminDispute,
  raiseDispute,
  resolveDispute,
  submitEvidence,
} from '../../../src/wire/disputes.ts'
import type { Dispute, DisputeWithEvents } from '../../../src/wire/disputes.ts'
import { call } from '../../client/call.ts'
import { madeOf, readInput } from '../play/case-run.ts'
import type { CaseRun } from '../play/case-run.ts'
import { refuseDifferences, refuseStatus } from '../assert-matches.ts'
import { Accept, Escalate, Evidence, RaiseDispute, Resolve } from '../language/disputes.ts'
import type { ExpectedStatus } from '../language/parts.ts'
import { differencesOf } from '../matchers.ts'

/** Raises a dispute as the payer, the merchant or the platform. */
export async function raise(run: CaseRun, given: unknown): Promise<void> {
  const input = readInput(run, RaiseDispute, given)
  const { status, body: dispute } = await raiseAs(run, input)
  if (input.as !== undefined) {
    run.captures.set(input.as, dispute)
    run.made.push({ kind: 'dispute', name: input.as, dispute })
  }
  refuseOthers(input.expect, { status, body: dispute, usual: 201 })
}

function raiseAs(
  { client, ...run }: CaseRun,
  { payment, by, reason, statement }: z.output<typeof RaiseDispute>,
): Promise<{ status: number; body: Dispute }> {
  const params = { id: madeOf({ client, ...run }, 'payment', payment).created.payment_id }
  const words = statement === undefined ? {} : { statement }
  if (by === 'merchant') return call(client, raiseDispute, { params, body: { reason, ...words } })
  if (by === 'platform') return call(client, raiseAdminDispute, { params, body: { reason, ...words } })
  const said = statement === undefined ? {} : { payer_statement: statement }
  return call(client, disputeAsPayer, { params, body: { reason, ...said } })
}

/** The merchant's evidence. */
export async function evidence(run: CaseRun, given: unknown): Promise<void> {
  const input = readInput(run, Evidence, given)
  const reply = await call(run.client, submitEvidence, {
    params: idOf(run, input),
    body: { merchant_evidence: input.text },
  })
  refuseOthers(input.expect, { ...reply, usual: 200 })
}

/** The merchant gives in. */
export async function accept(run: CaseRun, given: unknown): Promise<void> {
  const { dispute, expect: expected, ...body } = readInput(run, Accept, given)
  const reply = await call(run.client, acceptDispute, { params: idOf(run, { dispute }), body })
  refuseOthers(expected, { ...reply, usual: 200 })
}

export async function escalate(run: CaseRun, given: unknown): Promise<void> {
  const { dispute, expect: expected, ...body } = readInput(run, Escalate, given)
  const reply = await call(run.client, escalateDispute, { params: idOf(run, { dispute }), body })
  refuseOthers(expected, { ...reply, usual: 200 })
}

const STATUS_OF_FAVOUR = { merchant: 'RESOLVED_MERCHANT_FAVOUR', payer: 'RESOLVED_PAYER_FAVOUR' } as const

/** An operator decides. */
export async function resolve(run: CaseRun, given: unknown): Promise<void> {
  const { dispute, favour, note, refund, expect: expected } = readInput(run, Resolve, given)
  const reply = await call(run.client, resolveDispute, {
    params: idOf(run, { dispute }),
    body: {
      status: STATUS_OF_FAVOUR[favour],
      resolution_note: note,
      ...(refund === undefined ? {} : { refund }),
    },
  })
  refuseOthers(expected, { ...reply, usual: 200 })
}

/** A dispute as it is now, as its merchant sees it. */
export async function disputeNow(run: CaseRun, reference: string): Promise<DisputeWithEvents> {
  return (await call(run.client, getDispute, { params: idOf(run, { dispute: reference }) })).body
}

/** The newest dispute of a payment as it is now; undefined while there is none. */
export async function newestDisputeOf(run: CaseRun, paymentId: string): Promise<DisputeWithEvents | undefined> {
  const { body } = await call(run.client, listDisputes, { query: { payment_id: paymentId, limit: 1 } })
  const [newest] = body.data
  return newest === undefined ? undefined : (await call(run.client, getDispute, { params: { id: newest.id } })).body
}

function idOf(run: CaseRun, { dispute }: { dispute: string }): { id: string } {
  return { id: madeOf(run, 'dispute', dispute).dispute.id }
}

type Expected = Readonly<Record<string, unknown>> & { http?: ExpectedStatus | undefined }

function refuseOthers(
  expected: Expected | undefined,
  { status, body, usual }: { status: number; body: unknown; usual: number },
): void {
  const { http = usual, ...members } = expected ?? {}
  refuseStatus(status, http)
  refuseDifferences('the dispute', differencesOf(members, body), ['expect'])
}
