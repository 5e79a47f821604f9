import type { App } from '../app.ts'
import type { Actor } from '../audit/record.ts'
import { recordAction } from '../audit/record-action.ts'
import { deleteFaultSettings, findFaultSettings, putFaultSettings } from '../banks/faults-sql.ts'
import type { FaultSettings } from '../banks/faults.ts'
import { parseDuration } from '../lib/duration.ts'
import { DomainError, invalidField } from '../lib/errors.ts'
import { isUuid } from '../lib/ids.ts'
import { parsePercentage } from '../lib/percentage.ts'
import { findMerchant } from '../merchants/sql.ts'
import type { BankFaultSettings, BankFaults } from '../wire/sandbox-faults.ts'
import { faultsView } from './faults-view.ts'

/** Longer than the timeout of every caller of a bank. */
const LATENCY_MAX_MS = 60_000

/** The default seed: faults are reproducible without an explicit one, too. */
const DEFAULT_SEED = 1

export type SetBankFaults = BankFaultSettings & { merchant_id: string; actor: Actor }

/**
 * Replaces a merchant's fault injection settings at the mock bank: an omitted fault is off, and the counters restart.
 * Without any fault the settings are deleted. The change is recorded in the audit trail, in the same transaction.
 * @throws {DomainError} MERCHANT_NOT_FOUND, VALIDATION_FAILED at `latency`
 */
export async function setBankFaults(app: App, { merchant_id, actor, ...input }: SetBankFaults): Promise<BankFaults> {
  const merchantId = await knownMerchant(app, merchant_id)
  const faults = faultsIn(input)
  return app.pool.transaction(async (tx) => {
    const before = faultsView(merchantId, await findFaultSettings(tx, merchantId))
    if (faults === undefined) await deleteFaultSettings(tx, merchantId)
    const set = faults === undefined ? null : await putFaultSettings(tx, merchantId, faults)
    const after = faultsView(merchantId, set)
    await recordAction(app, tx, {
      actor,
      action: 'sandbox.bank_faults',
      merchantId,
      subjectId: merchantId,
      before: settingsOf(before),
      after: settingsOf(after),
    })
    return after
  })
}

/**
 * Reads a merchant's fault injection settings.
 * @throws {DomainError} MERCHANT_NOT_FOUND
 */
export async function getBankFaults(app: App, id: string): Promise<BankFaults> {
  const merchantId = await knownMerchant(app, id)
  return faultsView(merchantId, await findFaultSettings(app.pool, merchantId))
}

async function knownMerchant({ pool }: App, id: string): Promise<string> {
  if (isUuid(id) && (await findMerchant(pool, id)) !== null) return id.toLowerCase()
  throw new DomainError('MERCHANT_NOT_FOUND', 'merchant not found')
}

/** Undefined without any fault; a seed alone is not a fault. */
function faultsIn({ seed, ...faults }: BankFaultSettings): FaultSettings | undefined {
  if (Object.values(faults).every((fault) => fault === undefined)) return undefined
  return {
    latencyMs: faults.latency === undefined ? 0 : latencyOf(faults.latency),
    dropCallback: basisPointsOf(faults.drop_callback),
    duplicate: basisPointsOf(faults.duplicate),
    unavailable: basisPointsOf(faults.unavailable),
    failPayout: basisPointsOf(faults.fail_payout),
    returnPayout: basisPointsOf(faults.return_payout),
    seed: seed ?? DEFAULT_SEED,
  }
}

function basisPointsOf(text: string | undefined): number | null {
  return text === undefined ? null : parsePercentage(text)
}

function latencyOf(text: string): number {
  const ms = durationOf(text)
  if (ms <= LATENCY_MAX_MS) return ms
  throw invalidField('latency', 'OUT_OF_RANGE', 'must be at most 60s')
}

function durationOf(text: string): number {
  try {
    return parseDuration(text)
  } catch (error) {
    throw invalidField('latency', 'INVALID', error instanceof Error ? error.message : 'is not a valid duration')
  }
}

function settingsOf({
  merchant_id: _id,
  calls: _calls,
  callbacks: _callbacks,
  payouts: _payouts,
  set_at: _at,
  ...settings
}: BankFaults) {
  return settings
}
