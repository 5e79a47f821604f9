import { systemIo } from './base/io.ts'
import { run } from './entry/run.ts'

// How long open handles may keep the process after its command has ended.
const LINGER_MS = 2_000

/** The process: runs its own command line and leaves the exit code. Output that is still on its way is not cut off. */
export async function main(): Promise<void> {
  quietWarnings()
  process.exitCode = await run(process.argv.slice(2), systemIo())
  setTimeout(() => process.exit(), LINGER_MS).unref()
}

/** Node.js calls its SQLite, which locks the state directory, experimental at every start; users can do nothing about it. */
function quietWarnings(): void {
  process.removeAllListeners('warning')
  process.on('warning', (warning) => {
    const isKnown = warning.name === 'ExperimentalWarning' && warning.message.startsWith('SQLite')
    if (!isKnown) process.stderr.write(`${warning.name}: ${warning.message}\n`)
  })
}
