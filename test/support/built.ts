import { spawnSync } from 'node:child_process'
import { closeSync, globSync, mkdirSync, openSync, rmSync, statSync, utimesSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { packageRoot } from '../../src/lib/package-root.ts'

/*
 * What tests run as users do is built when it is older than its sources, so that `npx tap <file>` needs nothing else.
 * `npm test` runs this module before the tests, and `npm ci` with the parts that it needs: what one has built the other does
 * not build a second time, nor does the first `npx svc` of a checkout, for which npm runs `prepare` once more.
 */
export type Part = { sources: readonly string[]; output: string; command: readonly string[] }

/** The command line and the workers from source, as tests start them; see bundle.ts. */
const BUNDLE = join('node_modules', '.cache', 'svc-bundle')

const TAP_BUILT = '.tap/plugins/built'

export const PARTS: Readonly<Record<'cli' | 'widget' | 'package' | 'bundle' | 'tap', Part>> = {
  cli: {
    sources: ['src/**/*.ts', 'cli/**/*.{ts,tsx}', 'package.json', 'tsconfig*.json'],
    output: 'dist/cli/main.js',
    command: ['npm', 'run', '--silent', 'build'],
  },
  widget: {
    // The documentation is rendered into it.
    sources: ['widget/**/*.{ts,html,css}', 'src/wire/*.ts', 'src/lib/*.ts', 'docs/**/*.{md,svg}', '*.md'],
    output: 'dist/widget/pages/index.html',
    command: [process.execPath, 'widget/build.ts'],
  },
  package: {
    sources: ['widget/package/*', 'widget/build/package*.ts', 'package.json', 'widget/tsconfig.json', 'tsconfig.json'],
    output: 'dist/checkout-package/package.json',
    command: [process.execPath, 'widget/build/package.ts'],
  },
  bundle: {
    sources: ['src/**/*.ts', 'cli/**/*.{ts,tsx}', 'package.json', 'test/support/*.ts'],
    output: join(BUNDLE, 'svc-source.mjs'),
    command: [process.execPath, 'test/support/bundle.ts', BUNDLE],
  },
  // With the plugins that .taprc names. tap would do this by itself, but too late for the run that it does it in, and not
  // where it is installed anew: what is left of an earlier installation goes first.
  tap: {
    sources: ['.taprc', 'node_modules/@tapjs/test/package.json'],
    output: TAP_BUILT,
    command: ['sh', '-c', `rm -rf .tap/plugins && npx tap build && touch ${TAP_BUILT}`],
  },
}

/** As long as a build may keep another process waiting, in steps of which each is a look. */
const LOOKS_MAX = 1_200
const LOOK_MS = 100

const checked = new Set<string>()

/** Builds the part if it is out of date, once for all test processes that need it at the same time. */
export function ensureBuilt(name: keyof typeof PARTS): void {
  if (checked.has(name)) return
  buildIfOld(PARTS[name])
  checked.add(name)
}

/** @returns whether it was out of date, and nobody else has built it meanwhile */
export function buildIfOld(part: Part): boolean {
  if (isCurrent(part)) return false
  return withLock(join(packageRoot(), 'node_modules', '.cache', 'svc-build.lock'), () => {
    if (isCurrent(part)) return false
    const startedAt = new Date()
    // env: within a test, tap puts itself into every child of Node.js.
    const { status, stdout, stderr } = spawnSync('env', ['-u', 'NODE_OPTIONS', ...part.command], {
      cwd: packageRoot(),
      encoding: 'utf8',
      env: envWithoutTap(),
    })
    if (status !== 0) throw new Error(`${part.command.join(' ')} failed:\n${stdout}${stderr}`)
    // A build may leave an output with the same content as it is, which would be out of date for ever.
    utimesSync(join(packageRoot(), part.output), startedAt, startedAt)
    return true
  })
}

/** A file of the bundle, to be started by Node.js. */
export function bundled(name: 'svc-source' | 'crashing-console' | 'job-worker' | 'webhook-worker'): string {
  ensureBuilt('bundle')
  return join(packageRoot(), BUNDLE, `${name}.mjs`)
}

/** The environment without tap, which puts itself into every child by NODE_OPTIONS and its own variables. */
export function envWithoutTap(): NodeJS.ProcessEnv {
  return Object.fromEntries(Object.entries(process.env).filter(([key]) => !/^(?:NODE_OPTIONS|_?TAP)/.test(key)))
}

function isCurrent({ sources, output }: Part): boolean {
  const builtAt = statSync(join(packageRoot(), output), { throwIfNoEntry: false })?.mtimeMs
  if (builtAt === undefined) return false
  return globSync(sources, { cwd: packageRoot() }).every(
    (file) => statSync(join(packageRoot(), file)).mtimeMs <= builtAt,
  )
}

/** The lock of a process that was killed is taken over when a build can't have taken so long. */
function withLock<T>(file: string, work: () => T): T {
  mkdirSync(dirname(file), { recursive: true })
  for (let look = 0; !tryLock(file); look += 1) {
    if (look === LOOKS_MAX) rmSync(file, { force: true })
    Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, LOOK_MS)
  }
  try {
    return work()
  } finally {
    rmSync(file, { force: true })
  }
}

function tryLock(file: string): boolean {
  try {
    closeSync(openSync(file, 'wx'))
    return true
  } catch (error) {
    if (error instanceof Error && 'code' in error && error.code === 'EEXIST') return false
    throw error
  }
}

if (process.argv[1] === import.meta.filename) {
  // Building the command line builds the widget too, which is built of itself after a change in it alone.
  const all = Object.keys(PARTS) as (keyof typeof PARTS)[]
  const named = process.argv.slice(2)
  for (const part of all) if (named.length === 0 || named.includes(part)) ensureBuilt(part)
}
