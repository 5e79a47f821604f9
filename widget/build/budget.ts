import { basename } from 'node:path'
import { gzipSync } from 'node:zlib'
import type { Built, Bundle } from './bundle.ts'

const KIB = 1024
/** In bytes after gzip. The contract's target for loader and widget is below 20 KB. */
export const BUDGETS = { loader: 2.5 * KIB, checkout: 18 * KIB, locale: 2.5 * KIB }

export type Weight = { path: string; gzip: number }
export type Weights = {
  loader: Weight[]
  /** Everything a payer loads in English up to the bank (ST-03), including the loader. */
  checkout: Weight[]
  /** The other languages, each loaded on demand. */
  locales: Weight[]
}

/** The sizes of what the payer's browser loads, by the bundler's import graph. */
export function weigh(bundles: readonly Bundle[]): Weights {
  const files = bundles.flatMap((bundle) => bundle.files)
  const loader = files.filter(({ path }) => path === 'checkout.js')
  const widget = bundles.filter((bundle) => has(bundle, 'widget.js') || has(bundle, 'styles.css'))
  const locales = widget.flatMap((bundle) => bundle.files.filter(({ path }) => isPart(path, bundle, LOCALE)))
  const payer = widget.flatMap((bundle) =>
    bundle.files.filter(({ path }) => loadedBeforeBank(bundle).has(basename(path))),
  )
  return { loader: loader.map(weightOf), checkout: [...loader, ...payer].map(weightOf), locales: locales.map(weightOf) }
}

/** The files above their budget, as text. */
export function overBudget({ loader, checkout, locales }: Weights): string[] {
  const over = (name: string, weights: readonly Weight[], max: number): string[] =>
    sum(weights) > max ? [`${name}: ${kib(sum(weights))}, budget ${kib(max)}`] : []
  return [
    ...over('the loader', loader, BUDGETS.loader),
    ...over('loader and widget', checkout, BUDGETS.checkout),
    ...locales.flatMap((each) => over(each.path, [each], BUDGETS.locale)),
  ]
}

/** The sizes for the terminal, one per line. */
export function formatWeights({ loader, checkout, locales }: Weights): string[] {
  return [
    ...checkout.map(({ path, gzip }) => `  ${path.padEnd(34)} ${kib(gzip)}`),
    `  ${'loader'.padEnd(34)} ${kib(sum(loader))} of ${kib(BUDGETS.loader)}`,
    `  ${'loader and widget'.padEnd(34)} ${kib(sum(checkout))} of ${kib(BUDGETS.checkout)}`,
    ...locales.map(({ path, gzip }) => `  ${path.padEnd(34)} ${kib(gzip)} of ${kib(BUDGETS.locale)}`),
  ]
}

function has({ files }: Bundle, path: string): boolean {
  return files.some((file) => file.path === path)
}

const LOCALE = /(^|\/)locales\//
/** What only a payer who has paid loads, or one with another language, on a page with a look of its own, or in a sandbox. */
const LATE = /(^|\/)(appearance\.|misuse\.|screens\/receipt-details\.|locales\/)/

/** The files that a bundle's entries lead to, without those that are loaded on demand after the bank. */
function loadedBeforeBank({ meta: { outputs } }: Bundle): Set<string> {
  const names = new Set<string>()
  const follow = (path: string): void => {
    if (names.has(basename(path))) return
    names.add(basename(path))
    for (const { path: next, kind } of outputs[path]?.imports ?? [])
      if (kind !== 'dynamic-import' || !LATE.test(outputs[next]?.entryPoint ?? '')) follow(next)
  }
  for (const [path, { entryPoint }] of Object.entries(outputs))
    if (entryPoint !== undefined && !path.includes('/chunks/')) follow(path)
  return names
}

/** A chunk built from such a file and loaded on demand. */
function isPart(path: string, { meta }: Bundle, source: RegExp): boolean {
  const [, output] = Object.entries(meta.outputs).find(([name]) => basename(name) === basename(path)) ?? []
  return output?.entryPoint !== undefined && source.test(output.entryPoint)
}

function weightOf({ path, bytes }: Built): Weight {
  return { path, gzip: gzipSync(bytes, { level: 9 }).length }
}

function sum(weights: readonly Weight[]): number {
  return weights.reduce((total, { gzip }) => total + gzip, 0)
}

function kib(bytes: number): string {
  return `${(bytes / KIB).toFixed(2)} KiB`
}
