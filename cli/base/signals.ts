import { exitOfSignal } from './exit-codes.ts'

const SIGNALS = ['SIGINT', 'SIGTERM', 'SIGHUP'] as const

// A Ctrl+C reaches the whole process group, and npm and our own launcher pass it on: these copies are one wish.
const SAME_WISH_MS = 1_000

/**
 * Calls `stop` at the first signal that asks the process to end. A second one, later than its copies could come, ends the
 * process at once. Returns the function that takes the handlers away.
 */
export function onStopSignals(stop: (signal: NodeJS.Signals) => void): () => void {
  let askedAt: number | undefined
  function onSignal(signal: NodeJS.Signals): void {
    const now = performance.now()
    if (askedAt === undefined) {
      askedAt = now
      return stop(signal)
    }
    // A second signal means that waiting is not wanted: this is the one place that ends the process itself.
    if (now - askedAt > SAME_WISH_MS) process.exit(exitOfSignal(signal))
  }
  for (const signal of SIGNALS) process.on(signal, onSignal)
  return () => {
    for (const signal of SIGNALS) process.off(signal, onSignal)
  }
}
