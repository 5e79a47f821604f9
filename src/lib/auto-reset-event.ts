/**
 * An auto-reset event: one loop waits for the next reason to run again. A signal without a waiter is kept for the next
 * wait.
 */
export type AutoResetEvent = {
  open(): void
  /** Resolves when the event is set, or after `ms`. */
  wait(ms: number): Promise<void>
}

export function makeAutoResetEvent(): AutoResetEvent {
  let opened = false
  let pass: (() => void) | undefined
  return {
    open: () => {
      opened = true
      pass?.()
    },
    wait: async (ms) => {
      if (!opened) {
        const { promise, resolve } = Promise.withResolvers<void>()
        const timer = setTimeout(resolve, ms)
        pass = resolve
        await promise
        clearTimeout(timer)
      }
      pass = undefined
      opened = false
    },
  }
}
