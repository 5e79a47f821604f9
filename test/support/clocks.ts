import type { Test } from 'tap'

/** The clocks of this process: time passes on both, and only the one that people set can be set back. */
export function moveClocks(t: Test): { pass(ms: number): void; setBack(ms: number): void } {
  const { now } = Date
  const monotonicNow = performance.now.bind(performance)
  let passed = 0
  let setBack = 0
  t.intercept(Date, 'now', { value: () => now() + passed - setBack })
  t.intercept(performance, 'now', { value: () => monotonicNow() + passed })
  return {
    pass: (ms) => void (passed += ms),
    setBack: (ms) => void (setBack += ms),
  }
}
