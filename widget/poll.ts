/** Between two looks at a payment, in milliseconds (contract §Limits). */
export const POLL_EVERY_MS = 2_500
/** How long ST-04 looks by itself. */
export const POLL_MAX_MS = 120_000
/** How long a QR code is watched for being scanned: long enough to find the phone, and much less than a consent lives. */
export const QR_WATCH_MAX_MS = 600_000

export type Timers = {
  every(run: () => void, ms: number): number
  stop(timer: number): void
}

export type Polling = {
  check(): Promise<unknown>
  maxMs: number
  /** When the time is over. */
  onEnd?(): void
}

/**
 * Looks every 2.5 seconds, and never at two things at once. Counts looks and not time: a phone that sleeps while its owner
 * is in the bank's app has not used any up when it wakes. Answers how to stop it.
 */
export function poll({ check, maxMs, onEnd }: Polling, timers: Timers): () => void {
  let left = Math.floor(maxMs / POLL_EVERY_MS)
  let isChecking = false
  const timer = timers.every(() => {
    left -= 1
    // Whoever goes on from here looks for itself: the answer of a last look would come when its phase is over.
    if (left === 0) {
      timers.stop(timer)
      onEnd?.()
    } else if (!isChecking) {
      isChecking = true
      void check().finally(() => (isChecking = false))
    }
  }, POLL_EVERY_MS)
  return () => timers.stop(timer)
}
