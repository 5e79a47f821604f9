import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { z } from 'zod'
import { packageRoot } from '../db/package-root.ts'

/** The version of this package. */
export function version(): string {
  const text = readFileSync(join(packageRoot(), 'package.json'), 'utf8')
  return z.object({ version: z.string() }).parse(JSON.parse(text)).version
}
