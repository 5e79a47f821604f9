import type { Command } from 'commander'
import { z } from 'zod'
import { asTyped } from '../../base/command-hints.ts'
import { EXIT } from '../../base/exit-codes.ts'
import type { Paint, Style } from '../../base/io.ts'
import { printable } from '../../base/text.ts'
import { wrapped } from '../../base/wrap.ts'
import { action } from '../../kit/context.ts'
import type { CommandInput, CommandResult, Context, Runtime } from '../../kit/context.ts'
import { DataOption } from '../../kit/option-values.ts'
import type { Check } from './check.ts'
import { checkClientSetup } from './client-setup.ts'
import { openDatabase } from './database-sql.ts'
import type { Database } from './database-sql.ts'
import { checkDatabase } from './database.ts'
import { checkProvider } from './identity.ts'
import { checkMachine } from './machine.ts'
import { checkMail } from './mail.ts'
import { checkService } from './service.ts'
import { resolveTarget } from './target.ts'
import type { DoctorTarget } from './target.ts'
import { checkWebhooks } from './webhooks.ts'

/** What is looked over, in the order in which it is told. */
const GROUPS = ['machine', 'service', 'database', 'identity', 'mail', 'webhooks', 'you'] as const
type Group = (typeof GROUPS)[number]

type GroupedCheck = Check & { group: Group }

const TITLES: Readonly<Record<Group, string>> = {
  machine: 'This machine',
  service: 'The service',
  database: 'The database',
  identity: 'Identity',
  mail: 'Mail',
  webhooks: 'Webhooks',
  you: 'You',
}

function titleOf(group: Group): string {
  return TITLES[group]
}

const PASSWORD = /([a-z][a-z0-9+.-]*:\/\/[^\s:/@]*):[^\s]*@/gi

/** A check of a group, without the passwords of addresses that an error may have repeated. */
function inGroup(group: Group, { check, state, text, fix }: Check): GroupedCheck {
  return { check, group, state, text: withoutPasswords(text), fix: fix === null ? null : withoutPasswords(fix) }
}

export function withoutPasswords(text: string): string {
  return text.replaceAll(PASSWORD, '$1:***@')
}

const DoctorOptions = z.object({ only: z.array(z.enum(GROUPS)).optional() })

export function addDoctor(command: Command, runtime: Runtime): void {
  command
    .addOption(
      new DataOption('--only <groups>', 'Run only these checks, such as mail,machine').choices(GROUPS).takingSeveral(),
    )
    .addHelpText('after', EXAMPLES)
    .action(action(runtime, DoctorOptions, doctor))
}

const EXAMPLES = `
Looks at the service that --api-url, SVC_API_URL or the profile names, else at the one of the state directory, and
where none runs there, at what the environment configures, as svc serve reads it. Where there is nothing of these, this
machine alone. Exit code 1 with findings, each with what to type. Nothing is changed, nothing is sent, and no password
is shown; a session is renewed where any command would renew it.

Examples:
  svc doctor
  svc doctor --only database
  SVC_DATABASE_URL=postgres://... SVC_ENCRYPTION_KEY=... svc doctor --json
`

async function doctor(
  context: Context,
  { options }: CommandInput<z.infer<typeof DoctorOptions>>,
): Promise<CommandResult> {
  const target = await resolveTarget(context)
  const checks = await examine(target, options.only)
  printReport(context, checks)
  return checks.some(({ state }) => state === 'finding') ? EXIT.failure : EXIT.ok
}

const CHECKS: Readonly<Record<Group, (target: DoctorTarget, database: Database | undefined) => Promise<Check[]>>> = {
  machine: checkMachine,
  service: checkService,
  database: checkDatabase,
  identity: checkProvider,
  mail: checkMail,
  webhooks: checkWebhooks,
  you: checkClientSetup,
}

/** The groups that look into the database. */
const IN_DATABASE: ReadonlySet<Group> = new Set(['service', 'database', 'mail', 'webhooks'])

/** Looks over all of it at once, or over some groups, and tells it in the order of the groups. */
async function examine(target: DoctorTarget, only: readonly Group[] | undefined): Promise<GroupedCheck[]> {
  const groups = GROUPS.filter((group) => only === undefined || only.includes(group))
  const { databaseUrl } = target
  const isAsked = databaseUrl !== undefined && groups.some((group) => IN_DATABASE.has(group))
  const database = isAsked ? openDatabase(databaseUrl) : undefined
  try {
    const found = await Promise.all(groups.map((group) => ofGroup(group, CHECKS[group](target, database))))
    return found.flat()
  } finally {
    await database?.close()
  }
}

async function ofGroup(group: Group, checks: Promise<Check[]>): Promise<GroupedCheck[]> {
  return (await checks).map((check) => inGroup(group, check))
}

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
function printReport({ print, io, flags }: Context, checks: readonly GroupedCheck[]): void {
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
