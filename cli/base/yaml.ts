import { createRequire } from 'node:module'

let loaded: typeof import('yaml') | undefined

/** The YAML library, loaded at its first use: most commands read no file and print no YAML, and need not wait for it. */
export function yaml(): typeof import('yaml') {
  loaded ??= createRequire(import.meta.url)('yaml') as typeof import('yaml')
  return loaded
}
