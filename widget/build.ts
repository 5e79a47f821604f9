import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { overBudget, formatWeights, weigh } from './build/budget.ts'
import { SOURCES, bundleAll } from './build/bundle.ts'
import type { Built } from './build/bundle.ts'
import { drawLogos } from './build/logos.ts'
import { withCompressed, writeAll } from './build/write.ts'

/*
 * Builds what browsers load into dist/widget, or into the folder that is named: scripts, styles, pages and the banks'
 * images, each also compressed. What a payer has to load has a budget; above it the build fails.
 */
const PAGES = ['index.html', 'hub.html', 'demo.html']

function pages(): Built[] {
  return PAGES.filter((name) => existsSync(join(SOURCES, name))).map((name) => ({
    path: `pages/${name}`,
    bytes: readFileSync(join(SOURCES, name)),
  }))
}

function logos(): Built[] {
  return drawLogos().map(({ id, svg }) => ({ path: `banks/${id}.svg`, bytes: Buffer.from(svg) }))
}

const folder = process.argv[2] ?? join(SOURCES, '..', 'dist', 'widget')
const bundles = await bundleAll()
const files = [...bundles.flatMap((bundle) => bundle.files), ...logos()].flatMap(withCompressed)
// Pages are answered by the service with headers of their own, and are too small to compress.
writeAll(folder, [...files, ...pages()])

const weights = weigh(bundles)
console.log(['widget, gzipped:', ...formatWeights(weights)].join('\n'))
const over = overBudget(weights)
if (over.length > 0) {
  console.error(['The widget is above its budget.', ...over.map((line) => `  ${line}`)].join('\n'))
  process.exitCode = 1
}
