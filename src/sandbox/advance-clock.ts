import type { App } from '../app.ts'
import type { Actor } from '../audit/record.ts'
import { recordAction } from '../audit/record-action.ts'
import { parseDuration } from '../lib/duration.ts'
import { DomainError, invalidField } from '../lib/errors.ts'
import { isUuid } from '../lib/ids.ts'
import { findMerchant } from '../merchants/sql.ts'
import { advanceDueTimes, findNextDue } from './sql.ts'

/** More than any due time is away. */
const DAYS_MAX = 400
const DAY_MS = 86_400_000

/** How long the work at one due time may take: a worker's attempt at a silent endpoint takes five seconds. */
const QUIET_WITHIN_MS = 30_000

/** Between two looks whether the work at a due time is done. */
const LOOK_MS = 5

/** Jobs that have due times; each is woken where time stops. */
const JOBS = [
  'settle-payments',
  'pay-mandates',
  'expire-consents',
  'expire-mandates',
  'resume-refunds',
  'expire-evidence',
  'deliver-webhooks',
]

/** A due time is reached a moment after it, so that a comparison with it can't fail by a rounding. */
const BEYOND_MS = 1

/**
 * Lets time pass for one merchant: stops at every due time on the way, lets the jobs do what is due there, and goes on
 * from what they have planned next. So ten hours of retries happen in their order, in as little time as they take to run.
 * A worker must be running. The first step stands in the audit trail, in the transaction that makes it.
 * @throws {DomainError} MERCHANT_NOT_FOUND, VALIDATION_FAILED at `by`, SERVICE_UNAVAILABLE where no worker does the work
 */
export async function advanceClock(
  app: App,
  { merchantId, by, actor }: { merchantId: string; by: string; actor: Actor },
): Promise<{ stops: number; advancedMs: number }> {
  const advancedMs = durationOf(by)
  if (!isUuid(merchantId) || (await findMerchant(app.pool, merchantId)) === null) {
    throw new DomainError('MERCHANT_NOT_FOUND', 'there is no such merchant')
  }
  const asked = { merchantId, actor, askedMs: advancedMs }
  let left = advancedMs
  let stops = 0
  for (;;) {
    const waitMs = await untilQuiet(app, merchantId)
    if (waitMs === null || waitMs > left) break
    const step = Math.min(left, waitMs + BEYOND_MS)
    await advance(app, { ...asked, ms: step, isFirst: stops === 0 })
    left -= step
    stops += 1
  }
  if (left > 0) await advance(app, { ...asked, ms: left, isFirst: stops === 0 })
  return { stops, advancedMs }
}

type Step = { merchantId: string; actor: Actor; askedMs: number; ms: number; isFirst: boolean }

async function advance(app: App, { merchantId, actor, askedMs, ms, isFirst }: Step): Promise<void> {
  if (!isFirst) return advanceDueTimes(app.pool, { merchantId, ms })
  await app.pool.transaction(async (tx) => {
    await advanceDueTimes(tx, { merchantId, ms })
    const after = { advance_ms: askedMs }
    await recordAction(app, tx, { actor, action: 'sandbox.clock', merchantId, subjectId: merchantId, after })
  })
}

function durationOf(by: string): number {
  try {
    const ms = parseDuration(by)
    if (ms > 0 && ms <= DAYS_MAX * DAY_MS) return ms
  } catch (error) {
    throw invalidField('by', 'INVALID', error instanceof Error ? error.message : 'is no duration')
  }
  throw invalidField('by', 'OUT_OF_RANGE', `must be more than nothing and at most ${DAYS_MAX}d`)
}

/** Waits until nothing of the merchant is due or under way, and says how long until the next due time. */
async function untilQuiet(app: App, merchantId: string): Promise<number | null> {
  const deadline = performance.now() + QUIET_WITHIN_MS
  let looks = 0
  for (;;) {
    const { due, underway, wait_ms } = await findNextDue(app.pool, merchantId)
    if (due === 0 && underway === 0) return wait_ms
    if (performance.now() > deadline) {
      throw new DomainError('SERVICE_UNAVAILABLE', 'what is due is not being done', {
        next: 'check that a worker runs: svc status',
      })
    }
    // A wake-up may be lost, so it is repeated, and rarely, for each costs a notification.
    if (looks % 20 === 0) for (const job of JOBS) app.wake.notify(job)
    looks += 1
    await new Promise((resolve) => setTimeout(resolve, LOOK_MS))
  }
}
