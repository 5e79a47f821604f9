/** What was started, to be stopped in the opposite order. */
export type Teardown = {
  add(name: string, stop: () => Promise<void> | void): void
  /** Stops everything once; a part that fails to stop does not keep the others running. */
  run(): Promise<void>
}

export function makeTeardown(note: (line: string) => void): Teardown {
  const steps: { name: string; stop: () => Promise<void> | void }[] = []
  let running: Promise<void> | undefined
  async function stopAll(): Promise<void> {
    for (const { name, stop } of steps.toReversed()) {
      try {
        await stop()
      } catch (error) {
        note(`${name} did not stop as it should: ${error instanceof Error ? error.message : String(error)}`)
      }
    }
  }
  return {
    add: (name, stop) => void steps.push({ name, stop }),
    run: () => (running ??= stopAll()),
  }
}
