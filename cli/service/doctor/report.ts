import type { Context } from '../../kit/context.ts'
import { asTyped } from '../../base/command-hints.ts'
import type { Paint, Style } from '../../base/io.ts'
import { printable } from '../../base/text.ts'
import { wrapped } from '../../base/wrap.ts'
import { GROUPS, titleOf } from './groups.ts'
import type { GroupedCheck } from './groups.ts'

const WORDS: Readonly<Record<GroupedCheck['state'], string>> = {
  ok: 'ok',
  remark: 'remark',
  finding: 'FINDING',
  skipped: 'not looked at',
}
const STYLES: Readonly<Record<GroupedCheck['state'], Style>> = {
  ok: 'green',
  remark: 'yellow',
  finding: 'red',
  skipped: 'dim',
}

/** What is found first, then everything by its group; for programs {healthy, checks}. */
export function printReport({ print, io, flags }: Context, checks: readonly GroupedCheck[]): void {
  const findings = checks.filter(({ state }) => state === 'finding')
  const isHealthy = findings.length === 0
  const { paint, width = Infinity } = print
  const indent = Math.max(...checks.map(({ check }) => check.length)) + 2
  const typed = (fix: string): string => asTyped(fix, io.calledAs, flags)
  const told = GROUPS.flatMap((group) => {
    const ofGroup = checks.filter((each) => each.group === group)
    if (ofGroup.length === 0) return []
    return [
      paint('bold', titleOf(group)),
      ...ofGroup.flatMap((each) => linesOf(each, { paint, width, indent, typed })),
      '',
    ]
  })
  print.record({
    item: { healthy: isHealthy, checks },
    id: isHealthy ? 'healthy' : 'findings',
    lines: [['Healthy', isHealthy ? summaryOf(checks) : `no: ${summaryOf(checks)}`]],
    after: told.slice(0, -1).join('\n'),
  })
}

function summaryOf(checks: readonly GroupedCheck[]): string {
  const count = (state: GroupedCheck['state']): number => checks.filter((each) => each.state === state).length
  const findings = count('finding')
  const found = findings === 0 ? 'yes' : findings === 1 ? '1 finding' : `${findings} findings`
  const remarks = count('remark')
  const remarked = remarks === 0 ? '' : remarks === 1 ? ', 1 remark' : `, ${remarks} remarks`
  return `${found}; ${count('ok')} ok${remarked}, ${count('skipped')} not looked at`
}

type LineLayout = { paint: Paint; width: number; indent: number; typed(fix: string): string }

/** A long text goes on below itself; what is to be typed stands in a line of its own, whole. */
function linesOf({ check, state, text, fix }: GroupedCheck, { paint, width, indent, typed }: LineLayout): string[] {
  const margin = ' '.repeat(indent)
  const word = WORDS[state]
  const [first = '', ...rest] = wrapped(printable(`${word}: ${text}`), width - indent)
  const painted = first.startsWith(word) ? `${paint(STYLES[state], word)}${first.slice(word.length)}` : first
  return [
    `${check.padEnd(indent)}${painted}`,
    ...rest.map((line) => `${margin}${line}`),
    ...(fix === null ? [] : [`${margin}  ${printable(typed(fix))}`]),
  ]
}
