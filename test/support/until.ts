import { setTimeout as delay } from 'node:timers/promises'

const FIRST_MS = 10
const LONGEST_MS = 50

/** Waits between two looks: briefly at first, and longer the longer it takes, because each look costs CPU. */
export async function pause(startedAt: number): Promise<void> {
  await delay(Math.min(Math.max((performance.now() - startedAt) / 5, FIRST_MS), LONGEST_MS))
}

/** Polls until the condition holds. @throws when a look that began after the time did not find it */
export async function until(
  what: string,
  condition: () => boolean | Promise<boolean>,
  timeoutMs = 120_000,
): Promise<void> {
  const startedAt = performance.now()
  for (;;) {
    const lookedAt = performance.now()
    if (await condition()) return
    if (lookedAt - startedAt > timeoutMs) throw new Error(`not within ${timeoutMs} ms: ${what}`)
    await pause(startedAt)
  }
}
