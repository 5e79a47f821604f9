import { registerHooks } from 'node:module'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import tap from 'tap'
import type { Test } from 'tap'
import { packageRoot } from '../../src/lib/package-root.ts'

/*
 * Several test files in one process, one after another. A second of a core goes into loading the service and tap before
 * the first test of a file begins; here it is paid once. Each file is a test of its own: what it imports as `tap` is
 * that test, so what it clears up is cleared up before the next file begins. Alone, a file runs as it always did.
 */
const OWN_TAP = 'svc-batch:'
const tests = new Map<string, Test>()

/** The test that the replacement of `tap` in one file runs under. */
export const testOf = (url: string): Test | undefined => tests.get(url)

/** Runs files, named from the package's root, in their order. */
export async function runBatch(files: readonly string[]): Promise<void> {
  registerHooks({
    resolve: (specifier, context, next) =>
      specifier === 'tap' && context.parentURL !== undefined && tests.has(context.parentURL)
        ? { url: OWN_TAP + context.parentURL, format: 'module', shortCircuit: true }
        : next(specifier, context),
    load: (url, context, next) =>
      url.startsWith(OWN_TAP) ? { format: 'module', source: ownTap(url), shortCircuit: true } : next(url, context),
  })
  tap.plan(files.length)
  for (const file of files) {
    const { href } = pathToFileURL(join(packageRoot(), file))
    await tap.test(file, async (t) => {
      tests.set(href, t)
      // A file without a test would pass whatever it is about.
      t.teardown(() => {
        if (t.counts.total === 0) throw new Error(`${file} has no test`)
      })
      await import(href)
    })
  }
}

function ownTap(url: string): string {
  const [self, file] = [import.meta.url, url.slice(OWN_TAP.length)].map((each) => JSON.stringify(each))
  return `import { testOf } from ${self}\nexport default testOf(${file})\n`
}
