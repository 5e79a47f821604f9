import type { CommonQueryMethods } from 'slonik'
import { z } from 'zod'
import { sql } from '../db/sql.ts'
import type { FaultSettings } from './faults.ts'

/** A merchant's fault injection settings, and the number of calls and callbacks since they were set. */
export const FaultSettingsRecord = z.strictObject({
  latency_ms: z.int(),
  drop_callback: z.int().nullable(),
  duplicate: z.int().nullable(),
  unavailable: z.int().nullable(),
  fail_payout: z.int().nullable(),
  return_payout: z.int().nullable(),
  seed: z.int(),
  calls: z.bigint(),
  callbacks: z.bigint(),
  payouts: z.bigint(),
  set_at: z.string(),
})
export type FaultSettingsRecord = z.infer<typeof FaultSettingsRecord>

const columns = sql.fragment`
  latency_ms, drop_callback, duplicate, unavailable, fail_payout, return_payout, seed, calls, callbacks, payouts,
  iso_text(set_at) as set_at
`

/** Null for a merchant without fault injection settings. */
export function findFaultSettings(tx: CommonQueryMethods, merchantId: string): Promise<FaultSettingsRecord | null> {
  return tx.maybeOne(
    sql.type(FaultSettingsRecord)`select ${columns} from mock_bank.faults where merchant_id = ${merchantId}`,
  )
}

/** Replaces all settings and resets the counters. */
export function putFaultSettings(
  tx: CommonQueryMethods,
  merchantId: string,
  faults: FaultSettings,
): Promise<FaultSettingsRecord> {
  return tx.one(sql.type(FaultSettingsRecord)`
    insert into mock_bank.faults as f (
      merchant_id, latency_ms, drop_callback, duplicate, unavailable, fail_payout, return_payout, seed
    )
    values (
      ${merchantId}, ${faults.latencyMs}, ${faults.dropCallback}, ${faults.duplicate}, ${faults.unavailable},
      ${faults.failPayout}, ${faults.returnPayout}, ${faults.seed}
    )
    on conflict (merchant_id) do update
    set latency_ms = excluded.latency_ms, drop_callback = excluded.drop_callback, duplicate = excluded.duplicate,
      unavailable = excluded.unavailable, fail_payout = excluded.fail_payout, return_payout = excluded.return_payout,
      seed = excluded.seed, calls = 0, callbacks = 0, payouts = 0, set_at = now()
    returning ${columns}
  `)
}

export async function deleteFaultSettings(tx: CommonQueryMethods, merchantId: string): Promise<void> {
  await tx.query(sql.typeAlias('void')`delete from mock_bank.faults where merchant_id = ${merchantId}`)
}

/** Counts a call about a payment, including this one; null where its merchant has no fault injection settings. */
export function countCall(tx: CommonQueryMethods, state: string): Promise<FaultSettingsRecord | null> {
  return tx.maybeOne(sql.type(FaultSettingsRecord)`
    update mock_bank.faults f
    set calls = calls + 1
    where f.merchant_id = (select a.payee_id from mock_bank.authorisations a where a.state = ${state})
    returning ${columns}
  `)
}

/** Counts a call about a mandate. */
export function countMandateCall(tx: CommonQueryMethods, reference: string): Promise<FaultSettingsRecord | null> {
  return tx.maybeOne(sql.type(FaultSettingsRecord)`
    update mock_bank.faults f
    set calls = calls + 1
    where f.merchant_id = (select a.payee_id from mock_bank.authorisations a where a.consent_reference = ${reference})
    returning ${columns}
  `)
}

/** Counts a call about a payout. */
export function countPayoutCall(tx: CommonQueryMethods, merchantId: string): Promise<FaultSettingsRecord | null> {
  return tx.maybeOne(sql.type(FaultSettingsRecord)`
    update mock_bank.faults set calls = calls + 1 where merchant_id = ${merchantId} returning ${columns}
  `)
}

/** Counts a payout that the bank has not had before. */
export function countPayout(tx: CommonQueryMethods, merchantId: string): Promise<FaultSettingsRecord | null> {
  return tx.maybeOne(sql.type(FaultSettingsRecord)`
    update mock_bank.faults set payouts = payouts + 1 where merchant_id = ${merchantId} returning ${columns}
  `)
}

/** Counts callbacks, including these. */
export function countCallbacks(
  tx: CommonQueryMethods,
  { merchantId, count }: { merchantId: string; count: number },
): Promise<FaultSettingsRecord | null> {
  return tx.maybeOne(sql.type(FaultSettingsRecord)`
    update mock_bank.faults set callbacks = callbacks + ${count} where merchant_id = ${merchantId} returning ${columns}
  `)
}
