import type { FaultSettingsRecord } from '../banks/faults-sql.ts'
import { durationText } from '../lib/duration.ts'
import { formatPercentage } from '../lib/percentage.ts'
import type { BankFaults } from '../wire/sandbox-faults.ts'

/** Converts a merchant's fault injection settings to the sandbox API's form; null is a bank without faults. */
export function faultsView(merchantId: string, record: FaultSettingsRecord | null): BankFaults {
  return {
    merchant_id: merchantId,
    latency: record === null || record.latency_ms === 0 ? null : durationText(record.latency_ms),
    drop_callback: percentageText(record?.drop_callback),
    duplicate: percentageText(record?.duplicate),
    unavailable: percentageText(record?.unavailable),
    fail_payout: percentageText(record?.fail_payout),
    return_payout: percentageText(record?.return_payout),
    seed: record?.seed ?? null,
    calls: Number(record?.calls ?? 0),
    callbacks: Number(record?.callbacks ?? 0),
    payouts: Number(record?.payouts ?? 0),
    set_at: record?.set_at ?? null,
  }
}

function percentageText(basisPoints: number | null | undefined): string | null {
  return basisPoints === null || basisPoints === undefined ? null : formatPercentage(basisPoints)
}
