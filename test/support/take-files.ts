import assert from 'node:assert/strict'
import { registerHooks } from 'node:module'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import tap from 'tap'
import type { Test } from 'tap'
import { packageRoot } from '../../src/lib/package-root.ts'
import { inSpan } from '../../src/lib/trace.ts'
import { forgetRan } from '../cli/ran.ts'
import { restartKeys } from './key-pool.ts'
import { markEnded, offeredFiles, takeFile } from './queue.ts'

/*
 * A process of a run: it takes one test file after another until none is left. Loading the service and tap takes a second
 * and more of a core, and here it is paid once for a hundred files; and no process is left alone with work at the end.
 * Each file is a test of its own: what it imports as `tap` is that test, so what it clears up is cleared up before the next
 * file begins. Alone, a file runs as it always did.
 */
const OWN_TAP = 'svc-file:'
const FILE_TIMEOUT_MS = 600_000

const tests = new Map<string, Test>()

/** The test that the replacement of `tap` in one file runs under. */
export const testOf = (url: string): Test | undefined => tests.get(url)

/** Runs the files that no other process of the run takes. */
export async function takeFiles(folder: string): Promise<void> {
  registerHooks({
    resolve: (specifier, context, next) =>
      specifier === 'tap' && context.parentURL !== undefined && tests.has(context.parentURL)
        ? { url: OWN_TAP + context.parentURL, format: 'module', shortCircuit: true }
        : next(specifier, context),
    load: (url, context, next) =>
      url.startsWith(OWN_TAP) ? { format: 'module', source: ownTap(url), shortCircuit: true } : next(url, context),
  })
  for (const [index, file] of offeredFiles(folder).entries()) {
    if (!takeFile(folder, index)) continue
    await runFile(file)
    markEnded(folder, index)
  }
}

async function runFile(file: string): Promise<void> {
  const { href } = pathToFileURL(join(packageRoot(), file))
  await tap.test(file, { timeout: FILE_TIMEOUT_MS }, async (t) => {
    tests.set(href, t)
    forgetRan()
    restartKeys()
    const before = await processState()
    t.teardown(async () => {
      // After everything that the file clears up itself.
      const changed = difference(before, await processState())
      assert.deepEqual(changed, [], `${file} leaves the process changed, and with it how the next files run`)
      // tap shows what a process has found when it ends.
      if (!t.passing()) process.stderr.write(`failed: ${file}\n`)
      // A file without a test would pass whatever it is about.
      if (t.counts.total === 0) throw new Error(`${file} has no test`)
    })
    await import(href)
  })
}

/** Set once by the console, as React asks, and by the libraries that drive browsers: they stay, and change no file's run. */
const MAY_STAY = new Set(['environment: NODE_ENV', 'listeners: exit'])

/** What files share because they run in one process: each may change it, and restores it. */
async function processState(): Promise<Map<string, unknown>> {
  const span = await inSpan({ name: 'between two files' }, undefined, async (started) => started)
  return new Map<string, unknown>([
    ['the working folder', process.cwd()],
    ['an SDK for traces', span !== undefined],
    ['Date.now', Date.now],
    ['Math.random', Math.random],
    ['fetch', globalThis.fetch],
    ...Object.entries(process.env).map(([name, value]) => [`environment: ${name}`, value] as const),
    ...process.eventNames().map((name) => [`listeners: ${String(name)}`, process.listenerCount(name)] as const),
  ])
}

/** The names of what differs. */
function difference(before: Map<string, unknown>, after: Map<string, unknown>): string[] {
  const names = new Set([...before.keys(), ...after.keys()])
  return [...names].filter((name) => before.get(name) !== after.get(name) && !MAY_STAY.has(name))
}

function ownTap(url: string): string {
  const [self, file] = [import.meta.url, url.slice(OWN_TAP.length)].map((each) => JSON.stringify(each))
  return `import { testOf } from ${self}\nexport default testOf(${file})\n`
}
