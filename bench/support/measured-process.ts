/** The other side of child.ts: what the benchmark wants of this program. */
export function settings<T>(): T {
  return JSON.parse(process.env['BENCH_SETTINGS'] ?? '{}')
}

/** Says that the program works, answers for its processor time, and calls `stop` when the benchmark lets go. */
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
