import type { FaultSettingsRecord } from '../banks/faults-sql.ts'
import { durationText } from '../lib/duration.ts'
import { formatPercentage } from '../lib/percentage.ts'
import type { BankFaults } from '../wire/sandbox-dial.ts'

/** A merchant's dial as the sandbox shows it; null is a bank that works. */
export function faultsView(merchantId: string, record: FaultSettingsRecord | null): BankFaults {
  return {
    merchant_id: merchantId,
    latency: record === null || record.latency_ms === 0 ? null : durationText(record.latency_ms),
    drop_callback: shareText(record?.drop_callback),
    duplicate: shareText(record?.duplicate),
    unavailable: shareText(record?.unavailable),
    seed: record?.seed ?? null,
    calls: Number(record?.calls ?? 0),
    callbacks: Number(record?.callbacks ?? 0),
    set_at: record?.set_at ?? null,
  }
}

function shareText(share: number | null | undefined): string | null {
  return share === null || share === undefined ? null : formatPercentage(share)
}
