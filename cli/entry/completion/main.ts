import { systemIo } from '../../base/io.ts'
import { complete } from './complete.ts'

/** The process that a shell asks. It ends as soon as it has answered, whatever is still open, and says nothing else. */
export async function main(): Promise<void> {
  process.removeAllListeners('warning')
  await complete(process.argv.slice(3), systemIo())
  process.stdout.write('', () => process.exit(0))
}
