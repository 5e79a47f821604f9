import { enableCompileCache, getCompileCacheDir, registerHooks } from 'node:module'

// Each test file is a process of its own and loads the same few hundred modules: what was stripped of its types and
// compiled once is taken from the system's directory for temporary files afterwards.
enableCompileCache()
process.env.NODE_COMPILE_CACHE ??= getCompileCacheDir()

// tap looks for the source map of every module. Ours need none, for stripping types moves nothing.
process.setSourceMapsEnabled(false)

// tap's own way to assign an uncaught error to its test follows every promise of the process.
const domain = new URL('tap-domain.js', import.meta.url).href
registerHooks({
  resolve: (specifier, context, next) =>
    specifier === 'async-hook-domain' ? { url: domain, shortCircuit: true } : next(specifier, context),
})

await import('./key-pool.ts')
