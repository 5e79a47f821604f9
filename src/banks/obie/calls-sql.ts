import type { CommonQueryMethods } from 'slonik'
import { z } from 'zod'
import { sql } from '../../db/sql.ts'

/** What a call to a bank is for. */
export type Step =
  | 'discovery'
  | 'keys'
  | 'registration'
  | 'token'
  | 'code exchange'
  | 'token refresh'
  | 'pushed request'
  | 'consent'
  | 'consent status'
  | 'funds confirmation'
  | 'payment'
  | 'payment status'
  | 'revocation'
  | 'return'

export type BankCall = {
  bank: string
  step: Step
  /** The `bank_consent_id` of the payment that it is about. */
  state: string | undefined
  interactionId: string
  httpStatus: number | undefined
  /** Why the answer was not believed, or the payer's return refused; undefined where all is well. */
  verdict: string | undefined
}

export type RecordCall = (call: BankCall) => Promise<void>

/** Records a return with a state of no payment, if its browser was sent to a bank: under the payment that it was sent for. */
export async function insertStrayReturn(
  pool: CommonQueryMethods,
  { browser, interactionId }: { browser: string; interactionId: string },
): Promise<void> {
  await pool.query(sql.prepared('record_stray_return', z.object({}))`
    insert into obie.calls (bank, step, state, interaction_id, verdict)
    select c.bank, 'return', c.state, ${interactionId}, 'UNKNOWN_STATE'
    from obie.visits v join obie.consents c on c.state = v.state
    where v.browser = ${browser}
    order by v.created_at desc
    limit 1
  `)
}

export function makeRecordCall(pool: CommonQueryMethods): RecordCall {
  return async ({ bank, step, state, interactionId, httpStatus, verdict }) => {
    await pool.query(sql.prepared('record_bank_call', z.object({}))`
      insert into obie.calls (bank, step, state, interaction_id, http_status, verdict)
      values (${bank}, ${step}, ${state ?? null}, ${interactionId}, ${httpStatus ?? null}, ${verdict ?? null})
    `)
  }
}
