import type { Sample } from './numbers.ts'
import { ratioOf, resultOf } from './rounds.ts'
import type { Results } from './rounds.ts'

/** A measured ratio with its lower bound (or, for costs, its upper bound). */
export type RatioTarget = { what: string; ratio: number; least?: number; most?: number; unit?: string }

/** Prints a table of contenders, each beside the first one. */
export function printResults(title: string, results: Results): void {
  const [first = ''] = results.keys()
  const rows = [...results.keys()].map((name) => [
    name,
    ...cells(resultOf(results, name)),
    ratioOf(results, name, first).toFixed(2),
  ])
  printTable(title, [['', 'per second', 'p50/p99 ms', 'CPU µs node/pg', 'x first'], ...rows])
}

function cells({ rate, p50, p99, nodeUs, postgresUs }: Sample): string[] {
  return [
    rate.toFixed(0),
    p50 === undefined ? '' : `${p50.toFixed(1)}/${(p99 ?? Number.NaN).toFixed(1)}`,
    nodeUs === undefined && postgresUs === undefined
      ? ''
      : `${nodeUs?.toFixed(0) ?? '-'}/${postgresUs?.toFixed(0) ?? '-'}`,
  ]
}

/** Prints the targeted ratios, and whether this run meets them. */
export function printTargets(targets: readonly RatioTarget[]): void {
  const rows = targets.map(({ what, ratio, least, most, unit = '' }) => {
    const bound = least === undefined ? `<= ${most}${unit}` : `>= ${least}${unit}`
    const isMet = least === undefined ? ratio <= (most ?? Infinity) : ratio >= least
    return [what, `${ratio.toFixed(2)}${unit}`, bound, isMet ? 'met' : 'MISSED']
  })
  printTable('Ratios against their targets', [['', 'measured', 'target', ''], ...rows])
}

/** Prints rows of cells as a table of Markdown, which is also how README.md keeps it. */
export function printTable(title: string, rows: readonly (readonly string[])[]): void {
  const widths = (rows[0] ?? []).map((_, column) => Math.max(...rows.map((row) => row[column]?.length ?? 0), 3))
  const line = (row: readonly string[]) =>
    `| ${widths.map((width, column) => (row[column] ?? '').padEnd(width)).join(' | ')} |`
  const [head = [], ...body] = rows
  const rule = `|${widths.map((width) => '-'.repeat(width + 2)).join('|')}|`
  process.stdout.write(`\n### ${title}\n\n${[line(head), rule, ...body.map(line)].join('\n')}\n`)
}
