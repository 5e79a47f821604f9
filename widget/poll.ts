/** The polling interval, in milliseconds (contract §Limits). */
export const POLL_EVERY_MS = 2_500
/** How long ST-04 polls automatically. */
export const POLL_MAX_MS = 120_000
/** How long a QR code screen polls: long enough to find a phone, and much shorter than a consent's lifetime. */
export const QR_WATCH_MAX_MS = 600_000

export type Timers = {
  every(run: () => void, ms: number): number
  stop(timer: number): void
}

export type Polling = {
  check(): Promise<unknown>
  maxMs: number
  /** Called when the time is over. */
  onEnd?(): void
}

/**
 * Polls every 2.5 seconds, one request at a time. It counts polls and not time: a phone that sleeps while the payer
 * uses the bank's app uses none up.
 * @returns a function that stops polling
 */
export function poll({ check, maxMs, onEnd }: Polling, timers: Timers): () => void {
  let left = Math.floor(maxMs / POLL_EVERY_MS)
  let isChecking = false
  const timer = timers.every(() => {
    left -= 1
    // The next phase polls by itself: a last response would arrive after this phase has ended.
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
