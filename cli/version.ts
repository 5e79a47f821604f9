import { existsSync, readFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { z } from 'zod'

/** The folder of the package: the nearest one above that holds a package.json. Sources and build lie at different depths. */
export function packageFolder(from: string = import.meta.dirname): string {
  if (existsSync(join(from, 'package.json'))) return from
  const parent = dirname(from)
  if (parent === from) throw new Error('svc is not installed as a package: there is no package.json above it')
  return packageFolder(parent)
}

export function packageVersion(): string {
  return z
    .object({ version: z.string() })
    .parse(JSON.parse(readFileSync(join(packageFolder(), 'package.json'), 'utf8'))).version
}
