import { readFileSync } from 'node:fs'
import { registerHooks } from 'node:module'
import { fileURLToPath } from 'node:url'
import { transformSync } from 'esbuild'

/*
 * Node.js takes the types out of .ts by itself, but not JSX out of .tsx: imported first, this lets tests and a console that
 * is started from source load both. The console is what users get by `npm run build`; here it needs no build.
 */
process.env['NODE_ENV'] ??= 'production'

registerHooks({
  load(url, context, nextLoad) {
    if (!url.startsWith('file:') || !url.endsWith('.tsx')) return nextLoad(url, context)
    const file = fileURLToPath(url)
    const { code } = transformSync(readFileSync(file, 'utf8'), {
      loader: 'tsx',
      jsx: 'automatic',
      format: 'esm',
      target: 'node24',
      sourcefile: file,
      sourcemap: 'inline',
    })
    return { format: 'module', source: code, shortCircuit: true }
  },
})
