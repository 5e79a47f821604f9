import { MOCK_BANKS } from '../src/banks/catalogue.ts'
import { drawMark } from '../src/lib/bank-mark.ts'
import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { overBudget, formatWeights, weigh } from './build/budget.ts'
import { SOURCES, bundleAll } from './build/bundle.ts'
import type { Built } from './build/bundle.ts'
import { guides } from './build/guides.ts'
import { reference } from './build/reference.ts'
import { withCompressed, writeAll } from './build/write.ts'

/*
 * Builds the browser files into dist/widget or the given folder: scripts, styles, pages and bank logos, each also
 * compressed. Files that a payer loads have a size budget; the build fails above it.
 */
const PAGES = ['index.html', 'hub.html', 'demo.html', 'reference.html']

function pages(): Built[] {
  return PAGES.filter((name) => existsSync(join(SOURCES, name))).map((name) => ({
    path: `pages/${name}`,
    bytes: readFileSync(join(SOURCES, name)),
  }))
}

/** Of the invented banks; the service draws those of others (src/http/assets.ts). */
function marks(): Built[] {
  return MOCK_BANKS.map(({ id, name }, index) => ({
    path: `banks/${id}.svg`,
    bytes: Buffer.from(drawMark(name, index)),
  }))
}

const folder = process.argv[2] ?? join(SOURCES, '..', 'dist', 'widget')
const bundles = await bundleAll()
const files = [...bundles.flatMap((bundle) => bundle.files), ...marks(), ...guides()].flatMap(withCompressed)
// The service sends its other pages with values in them; they are too small to compress.
writeAll(folder, [...files, ...reference(), ...pages()])

const weights = weigh(bundles)
console.log(['widget, gzipped:', ...formatWeights(weights)].join('\n'))
const over = overBudget(weights)
if (over.length > 0) {
  console.error(['The widget exceeds its size budget:', ...over.map((line) => `  ${line}`)].join('\n'))
  process.exitCode = 1
}
