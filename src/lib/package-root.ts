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

/** The commit that this package was built from; undefined from source, and where it was built without git. */
export function packageCommit(): string | undefined {
  return (read ??= readPackage()).commit
}

/** The version of this package. */
export function packageVersion(): string {
  return (read ??= readPackage()).version
}

let read: { version: string; commit: string | undefined } | undefined

function readPackage(): { version: string; commit: string | undefined } {
  const root = packageRoot()
  const { version } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8')) as { version: string }
  const file = join(root, 'dist', 'commit')
  const isBuilt = import.meta.dirname.startsWith(join(root, 'dist'))
  return { version, commit: isBuilt && existsSync(file) ? readFileSync(file, 'utf8').trim() : undefined }
}
