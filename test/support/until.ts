import { setTimeout as delay } from 'node:timers/promises'

/** Polls until the condition holds. @throws when it does not within the time */
export async function until(
  what: string,
  condition: () => boolean | Promise<boolean>,
  timeoutMs = 60_000,
): Promise<void> {
  const deadline = performance.now() + timeoutMs
  while (!(await condition())) {
    if (performance.now() > deadline) throw new Error(`not within ${timeoutMs} ms: ${what}`)
    await delay(10)
  }
}
