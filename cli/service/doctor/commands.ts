import { asTyped } from '../../base/command-hints.ts'
import { usageError } from '../../base/errors.ts'
import { EXIT } from '../../base/exit-codes.ts'
import type { Style } from '../../base/io.ts'
import { printable } from '../../base/text.ts'
import { wrapped } from '../../base/wrap.ts'
import { command } from '../../kit/command.ts'
import type { Context } from '../../kit/context.ts'
import { checkBanks } from './banks.ts'
import { runChecks } from './check.ts'
import type { Check, Verdict } from './check.ts'
import { checkDatabase } from './database.ts'
import { checkIdentity } from './identity.ts'
import { checkLive } from './live.ts'
import { checkMachine } from './machine.ts'
import { mailServerCheck } from './mail.ts'
import { checkService, checkWebhooks } from './service.ts'
import { resolveTarget } from './target.ts'
import type { DoctorTarget } from './target.ts'

const GROUPS = {
  machine: { title: 'This machine', run: checkMachine },
  service: { title: 'The service', run: checkService },
  database: { title: 'The database', run: checkDatabase },
  identity: { title: 'Identity', run: checkIdentity },
  mail: { title: 'Mail', run: (target) => runChecks({ 'mail server': () => mailServerCheck(target) }) },
  webhooks: { title: 'Webhooks', run: checkWebhooks },
  banks: { title: 'Banks', run: checkBanks },
  live: { title: 'Before the first payment with money', run: checkLive },
} as const satisfies Record<string, { title: string; run(target: DoctorTarget): Promise<Check[]> }>

const NAMES = ['machine', 'service', 'database', 'identity', 'mail', 'webhooks', 'banks'] as const
type GroupedCheck = Check & { group: keyof typeof GROUPS }

export const doctor = command({
  command: 'doctor',
  summary: 'Diagnose problems with this installation',
  details: `Examines the service that --api-url, SVC_API_URL or the profile names, else the one of the state directory, and where
none runs there, what the environment configures, as svc serve reads it. Otherwise only this machine. Exit code 1 with
findings, each with what to type. Nothing is changed or sent, and no password is shown.

With --live it checks the requirements for the first payment with money: run it with the environment of svc serve.
Exit code 1 then also means that something could not be checked.`,
  examples: [
    'svc doctor',
    'svc doctor --only database',
    'svc doctor --live',
    'SVC_DATABASE_URL=postgres://... SVC_ENCRYPTION_KEY=... svc doctor --json',
  ],
  flags: {
    only: { value: 'groups', summary: 'Run only these checks, such as mail,machine', choices: NAMES, repeats: true },
    live: { summary: 'Check the requirements for the first payment with money instead' },
  },
  async run(context, { only, live }) {
    if (live && only.length > 0) throw usageError('--live has checks of its own: leave out --only')
    const target = await resolveTarget(context)
    try {
      const groups = live ? (['live'] as const) : NAMES.filter((name) => only.length === 0 || only.includes(name))
      const found = await Promise.all(groups.map(async (group) => ofGroup(group, await GROUPS[group].run(target))))
      const checks = found.flat()
      const isHealthy = healthOf(checks, { isWhole: live })
      printReport(context, checks, isHealthy)
      return isHealthy === false || (live && isHealthy === null) ? EXIT.failure : EXIT.ok
    } finally {
      await target.close()
    }
  },
})

function ofGroup(group: GroupedCheck['group'], checks: readonly Check[]): GroupedCheck[] {
  return checks.map(({ check, state, text, fix }) => ({
    check,
    group,
    state,
    text: withoutPasswords(text),
    fix: fix === null ? null : withoutPasswords(fix),
  }))
}

const PASSWORD = /([a-z][a-z0-9+.-]*:\/\/[^\s:/@]*):[^\s]*@/gi

/** An error may have repeated an address with its password. */
export function withoutPasswords(text: string): string {
  return text.replaceAll(PASSWORD, '$1:***@')
}

const STATES: Readonly<Record<Verdict['state'], readonly [word: string, style: Style]>> = {
  ok: ['ok', 'green'],
  remark: ['remark', 'yellow'],
  finding: ['FINDING', 'red'],
  skipped: ['skipped', 'dim'],
}

/** Null where it is not known: nothing could be checked, or of a list that has to be complete not all. */
function healthOf(checks: readonly Check[], { isWhole }: { isWhole: boolean }): boolean | null {
  if (checks.some(({ state }) => state === 'finding')) return false
  const skippedCount = checks.filter(({ state }) => state === 'skipped').length
  return skippedCount === checks.length || (isWhole && skippedCount > 0) ? null : true
}

function printReport(context: Context, checks: readonly GroupedCheck[], healthy: boolean | null): void {
  const isKnown = checks.some(({ state }) => state !== 'skipped')
  const unknown = [`not known, ${isKnown ? 'not everything' : 'nothing'} could be checked`, 'unknown'] as const
  const [word, id] = healthy === null ? unknown : healthy ? ['yes', 'healthy'] : ['no', 'findings']
  const indent = Math.max(...checks.map(({ check }) => check.length)) + 2
  const sections = [...Map.groupBy(checks, ({ group }) => group)].map(([group, ofGroup]) =>
    [
      context.print.paint('bold', GROUPS[group].title),
      ...ofGroup.flatMap((each) => linesOf(context, each, indent)),
    ].join('\n'),
  )
  context.print.record({ healthy, checks }, [['Healthy', `${word}: ${summaryOf(checks)}`]], { id, after: sections })
}

function summaryOf(checks: readonly GroupedCheck[]): string {
  const counts = Map.groupBy(checks, ({ state }) => state)
  const count = (state: Verdict['state']): number => counts.get(state)?.length ?? 0
  const some = (n: number, word: string): string[] => (n === 0 ? [] : [`${n} ${word}${n === 1 ? '' : 's'}`])
  return [
    ...some(count('finding'), 'finding'),
    `${count('ok')} ok`,
    ...some(count('remark'), 'remark'),
    `${count('skipped')} skipped`,
  ].join(', ')
}

/** A long text continues below itself; what is to be typed has a line of its own, whole. */
function linesOf({ print, io, flags }: Context, { check, state, text, fix }: GroupedCheck, indent: number): string[] {
  const margin = ' '.repeat(indent)
  const [word, style] = STATES[state]
  const [first = '', ...rest] = wrapped(printable(`${word}: ${text}`), (print.width ?? Infinity) - indent)
  return [
    `${check.padEnd(indent)}${print.paint(style, word)}${first.slice(word.length)}`,
    ...rest.map((line) => `${margin}${line}`),
    ...(fix === null ? [] : [`${margin}  ${printable(asTyped(fix, io.calledAs, flags))}`]),
  ]
}
