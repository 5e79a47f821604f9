import { basename } from 'node:path'
import { gzipSync } from 'node:zlib'
import type { Built, Bundle } from './bundle.ts'

const KIB = 1024
/** In bytes, compressed with gzip. The contract's target for loader and widget is below 20 KB. */
export const BUDGETS = { loader: 2.5 * KIB, checkout: 17 * KIB, locale: 2 * KIB }

export type Weight = { path: string; gzip: number }
export type Weights = {
  loader: Weight[]
  /** All that a payer loads in English, the loader with it. */
  checkout: Weight[]
  /** The other languages, each loaded where it is asked for. */
  locales: Weight[]
}

/** What the payer's browser has to load, by what the bundler says of who imports what. */
export function weigh(bundles: readonly Bundle[]): Weights {
  const files = bundles.flatMap((bundle) => bundle.files)
  const loader = files.filter(({ path }) => path === 'checkout.js')
  const widget = bundles.filter((bundle) => has(bundle, 'widget.js') || has(bundle, 'styles.css'))
  const locales = widget.flatMap((bundle) => bundle.files.filter(({ path }) => isLocale(path, bundle)))
  const payer = widget.flatMap((bundle) => bundle.files).filter((file) => !locales.includes(file))
  return { loader: loader.map(weightOf), checkout: [...loader, ...payer].map(weightOf), locales: locales.map(weightOf) }
}

/** What is above its budget, as a person reads it. */
export function overBudget({ loader, checkout, locales }: Weights): string[] {
  const over = (name: string, weights: readonly Weight[], max: number): string[] =>
    sum(weights) > max ? [`${name}: ${kib(sum(weights))}, and may be ${kib(max)}`] : []
  return [
    ...over('the loader', loader, BUDGETS.loader),
    ...over('loader and widget', checkout, BUDGETS.checkout),
    ...locales.flatMap((each) => over(each.path, [each], BUDGETS.locale)),
  ]
}

/** The sizes for the terminal, a line each. */
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

/** A part that was made from a language's file and is imported late. */
function isLocale(path: string, { meta }: Bundle): boolean {
  const [, output] = Object.entries(meta.outputs).find(([name]) => basename(name) === basename(path)) ?? []
  return output?.entryPoint !== undefined && /(^|\/)locales\//.test(output.entryPoint)
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
