/** The counterpart of child.ts in the measured process: returns the settings from the benchmark. */
export function settings<T>(): T {
  return JSON.parse(process.env['BENCH_SETTINGS'] ?? '{}')
}

/**
 * Reports that the program is ready, answers queries for its processor time, and calls `stop` when the benchmark
 * disconnects.
 */
export function ready(facts: Readonly<Record<string, unknown>>, stop: () => Promise<unknown>): void {
  process.on('message', (message: { name?: unknown }) => {
    if (message.name !== 'cpu') return
    const { user, system } = process.cpuUsage()
    process.send?.({ name: 'cpu', us: user + system })
  })
  process.once('disconnect', () => {
    stop().then(
      () => process.exit(0),
      () => process.exit(1),
    )
  })
  process.send?.({ name: 'ready', ...facts })
}
