import './tsx.ts'

/** The command line from source, for a process of its own. */
const { main } = await import('../../cli/main.ts')
await main()
