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

export function makeRecordCall(pool: CommonQueryMethods): RecordCall {
  return async ({ bank, step, state, interactionId, httpStatus, verdict }) => {
    await pool.query(sql.prepared('record_bank_call', z.object({}))`
      insert into obie.calls (bank, step, state, interaction_id, http_status, verdict)
      values (${bank}, ${step}, ${state ?? null}, ${interactionId}, ${httpStatus ?? null}, ${verdict ?? null})
    `)
  }
}
