import { z } from 'zod'
import { Dispute, DisputeReason, DisputeStatus } from '../../../src/wire/dispute-fields.ts'
import {
  disputeAsPayer,
  getDispute,
  listDisputes,
  raiseAdminDispute,
  raiseDispute,
} from '../../../src/wire/disputes.ts'
import type { DisputeWithEvents } from '../../../src/wire/dispute-fields.ts'
import { call } from '../../client/call.ts'
import { refuseUnlike } from '../assert-matches.ts'
import { Name, Ref, Text, Wait, expectedOf, matchersOf, made } from '../language/parts.ts'
import { awaitThat } from '../play/await-that.ts'
import { keep, madeOf } from '../play/case-run.ts'
import type { CaseRun } from '../play/case-run.ts'
import { form, verb, waits, comparison } from './verb.ts'
import type { Subject } from './verb.ts'

const OPERATIONS = { payer: disputeAsPayer, merchant: raiseDispute, platform: raiseAdminDispute }

export const dispute = verb({
  schema: z.strictObject({
    payment: Ref.payment,
    /** Who raises it: the payer where nothing is said. */
    by: z.enum(['payer', 'merchant', 'platform']).optional(),
    reason: DisputeReason,
    statement: Text.optional(),
    as: Name.optional(),
    expect: expectedOf(Dispute),
  }),
  text: 'Raises a dispute as the payer, the merchant or the platform.',
  examples: ['dispute: { payment: $p1, by: payer, reason: ITEM_NOT_RECEIVED, as: d1 }'],
  makes: made('dispute', Dispute),
  async play(run, { payment, by = 'payer', reason, statement, as, expect }) {
    const params = { id: madeOf(run, 'payment', payment).created.payment_id }
    const said = statement === undefined ? {} : { [by === 'payer' ? 'payer_statement' : 'statement']: statement }
    const reply = await call(run.client, OPERATIONS[by], { params, body: { reason, ...said } })
    keep(run, as, { kind: 'dispute', dispute: reply.body }, reply.body)
    refuseUnlike('the dispute', reply, { usual: 201, expected: expect })
  },
})

async function disputeNow(run: CaseRun, reference: string): Promise<DisputeWithEvents> {
  const { id } = madeOf(run, 'dispute', reference).dispute
  return (await call(run.client, getDispute, { params: { id } })).body
}

/** The newest dispute of a payment as it is now; undefined while there is none. */
async function newestDisputeOf(run: CaseRun, paymentId: string): Promise<DisputeWithEvents | undefined> {
  const { body } = await call(run.client, listDisputes, { query: { payment_id: paymentId, limit: 1 } })
  const [newest] = body.data
  return newest === undefined ? undefined : (await call(run.client, getDispute, { params: { id: newest.id } })).body
}

/** Evidence that is added moves nothing: a status that stays is listed once. */
function statusesOf({ events }: DisputeWithEvents): string[] {
  return events.flatMap(({ previous_status, new_status }) => (previous_status === new_status ? [] : [new_status]))
}

export const DISPUTE = {
  subject: 'A dispute; one that another caller raised gets a name',
  awaits: [
    form({
      schema: z.strictObject({ dispute: Ref.dispute, status: DisputeStatus, within: Wait.optional() }),
      examples: ['await: { dispute: $d1, status: UNDER_REVIEW }'],
      play: waits(
        (run, input) => disputeNow(run, input.dispute),
        ({ dispute: reference, status: wanted }) => ({
          what: reference,
          status: ({ status }) => status,
          isThere: ({ events }) => events.some((event) => event.new_status === wanted),
        }),
      ),
    }),
    // One that another caller raised about the payment: the newest, which gets a name.
    form({
      schema: z.strictObject({
        dispute_of: Ref.payment,
        as: Name.optional(),
        status: DisputeStatus.optional(),
        within: Wait.optional(),
      }),
      examples: ['await: { dispute_of: $p1, as: d2 }'],
      async play(run, { dispute_of: reference, as, status: wanted, within }) {
        const { created } = madeOf(run, 'payment', reference)
        const found = await awaitThat(run, {
          what: `the dispute of ${reference}`,
          wanted: wanted ?? 'raised',
          within,
          look: () => newestDisputeOf(run, created.payment_id),
          status: ({ status }) => status,
          isThere: ({ status }) => wanted === undefined || status === wanted,
          at: wanted === undefined ? 'dispute_of' : 'status',
          hint: (last) =>
            last === undefined
              ? 'dispute: { payment: $p1, … } raises one; so does a payment with the scenario dispute-won'
              : undefined,
        })
        keep(run, as, { kind: 'dispute', dispute: found }, found)
      },
    }),
  ],
  expects: [
    comparison({
      schema: z.strictObject({
        ...matchersOf(Dispute),
        dispute: Ref.dispute,
        /** The statuses that the dispute has been in, in their order. */
        history: z.array(DisputeStatus).optional(),
      }),
      examples: ['expect: { dispute: $d1, evidence_missing: true }'],
      what: ({ dispute: reference }) => reference,
      async now(run, { dispute: reference }) {
        const found = await disputeNow(run, reference)
        return { ...found, history: statusesOf(found) }
      },
      beside: ['dispute'],
    }),
  ],
} as const satisfies Subject
