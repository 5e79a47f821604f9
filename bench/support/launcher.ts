import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'

export const ROOT = fileURLToPath(new URL('../../', import.meta.url))

/**
 * The launcher of the command line, which runs what is built: what users start.
 * @throws where it is not built
 */
export function builtLauncher(): string {
  if (!existsSync(join(ROOT, 'dist', 'cli', 'entry', 'tree', 'commands.json')))
    throw new Error('svc is not built; run: npm run build')
  return join(ROOT, 'bin', 'svc.js')
}
