import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { build } from 'esbuild'
import type { BuildOptions, Metafile } from 'esbuild'

/** The folder of the browser sources. */
export const SOURCES = join(import.meta.dirname, '..')

/** A built file; the path is relative to the assets folder, with slashes. */
export type Built = { path: string; bytes: Uint8Array }

export type Bundle = { files: Built[]; meta: Metafile }

const SHARED: BuildOptions = {
  bundle: true,
  minify: true,
  target: ['es2020', 'chrome109', 'edge109', 'firefox115', 'safari15.4'],
  platform: 'browser',
  charset: 'utf8',
  legalComments: 'none',
  logLevel: 'warning',
  metafile: true,
  write: false,
  absWorkingDir: SOURCES,
  outdir: '/out',
  // That of the sources would add "use strict" to the loader, 20 bytes for what the compiler checks.
  tsconfigRaw: '{}',
}

/** The loader is a classic script, because only those know their own script element. */
const CLASSIC: BuildOptions = { format: 'iife' }

/** Scripts of the checkout's own pages. A chunk that is imported on demand is a file named by its content. */
const MODULE: BuildOptions = { format: 'esm', splitting: true, chunkNames: 'chunks/[name]-[hash]' }

/** The entries with output name and source. Each has its own bundle, so that none depends on another's chunks. */
const ENTRIES: readonly { name: string; source: string; options: BuildOptions }[] = [
  { name: 'checkout', source: 'loader.ts', options: CLASSIC },
  { name: 'widget', source: 'main.ts', options: MODULE },
  { name: 'styles', source: 'styles.css', options: {} },
  { name: 'hub', source: 'hub.ts', options: MODULE },
  { name: 'hub', source: 'hub.css', options: {} },
  { name: 'demo', source: 'demo.ts', options: MODULE },
  { name: 'demo', source: 'demo.css', options: {} },
  { name: 'reference/start', source: 'reference.ts', options: CLASSIC },
]

/** Builds the entries whose sources exist. */
export async function bundleAll(): Promise<Bundle[]> {
  const present = ENTRIES.filter(({ source }) => existsSync(join(SOURCES, source)))
  return Promise.all(
    present.map(async ({ name, source, options }) => {
      const { outputFiles = [], metafile } = await build({
        ...SHARED,
        ...options,
        entryPoints: [{ in: join(SOURCES, source), out: name }],
      })
      const files = outputFiles.map(({ path, contents }) => ({
        path: path.replace(/^.*?\/out\//, ''),
        bytes: contents,
      }))
      return { files, meta: metafile ?? { inputs: {}, outputs: {} } }
    }),
  )
}
