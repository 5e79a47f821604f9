import { existsSync, readFileSync } from 'node:fs'
import { dirname, join } from 'node:path'

/**
 * The folder of this package: the nearest ancestor of the given folder that holds a package.json. Sources run from src/
 * and from dist/src/, which are at different depths.
 * @throws when no ancestor has one
 */
export function packageRoot(from: string = import.meta.dirname): string {
  if (existsSync(join(from, 'package.json'))) return from
  const parent = dirname(from)
  if (parent === from) throw new Error('svc is not installed as a package: no package.json above its sources.')
  return packageRoot(parent)
}

/** The version of this package. */
export function packageVersion(): string {
  const text = readFileSync(join(packageRoot(), 'package.json'), 'utf8')
  const { version } = JSON.parse(text) as { version: string }
  return version
}
