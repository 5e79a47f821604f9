import { createHash } from 'node:crypto'
import { mkdirSync, readFileSync, renameSync, writeFileSync } from 'node:fs'
import { createRequire, registerHooks } from 'node:module'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'

/*
 * Node.js strips the types of .ts by itself, but cannot read the JSX of .tsx. Imported first, this module lets tests, and a
 * console that is started from source, load both without a build. Results are kept by their text: esbuild starts a process
 * of its own, which cost each of the consoles that the tests start a quarter of a second of CPU.
 */
process.env['NODE_ENV'] ??= 'production'

const FOLDER = join(import.meta.dirname, '../../node_modules/.cache/svc-tsx')
const load = createRequire(import.meta.url)

function translated(file: string): string {
  const source = readFileSync(file, 'utf8')
  const hash = createHash('sha256').update(`${file}\0${process.env['NODE_ENV']}\0${source}`).digest('hex')
  const kept = join(FOLDER, `${hash}.js`)
  try {
    return readFileSync(kept, 'utf8')
  } catch {
    const code = translate(file, source)
    mkdirSync(FOLDER, { recursive: true })
    // Renamed into place: another process reads the whole text or none of it.
    writeFileSync(`${kept}.${process.pid}`, code)
    renameSync(`${kept}.${process.pid}`, kept)
    return code
  }
}

function translate(file: string, source: string): string {
  const { transformSync } = load('esbuild') as typeof import('esbuild')
  const { code } = transformSync(source, {
    loader: 'tsx',
    jsx: 'automatic',
    format: 'esm',
    target: 'node24',
    sourcefile: file,
    sourcemap: 'inline',
  })
  return code
}

registerHooks({
  load(url, context, nextLoad) {
    if (!url.startsWith('file:') || !url.endsWith('.tsx')) return nextLoad(url, context)
    return { format: 'module', source: translated(fileURLToPath(url)), shortCircuit: true }
  },
})
