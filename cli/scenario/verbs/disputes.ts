import type { z } from 'zod'
import {
  disputeAsPayer,
  getDispute,
  listDisputes,
  raiseAdminDispute,
  raiseDispute,
} from '../../../src/wire/disputes.ts'
import type { Dispute, DisputeWithEvents } from '../../../src/wire/disputes.ts'
import { call } from '../../client/call.ts'
import { keep, madeOf, readInput } from '../play/case-run.ts'
import type { CaseRun } from '../play/case-run.ts'
import { RaiseDispute } from '../language/disputes.ts'
import { refuseUnlike } from './refuse-unlike.ts'

/** Raises a dispute as the payer, the merchant or the platform. */
export async function raise(run: CaseRun, given: unknown): Promise<void> {
  const input = readInput(run, RaiseDispute, given)
  const { status, body: dispute } = await raiseAs(run, input)
  keep(run, input.as, { kind: 'dispute', dispute }, dispute)
  refuseUnlike('the dispute', { status, body: dispute }, { usual: 201, expected: input.expect })
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
