import { relative } from 'node:path'
import { Option } from 'commander'
import type { Command } from 'commander'
import { z } from 'zod'
import { asTyped, quoted } from '../base/command-hints.ts'
import { variableIn } from '../base/environment-variables.ts'
import type { ServiceState } from '../client/service-state.ts'
import { action } from '../kit/context.ts'
import type { CommandResult, Context, InputOf, Runtime } from '../kit/context.ts'
import { withProgress } from '../output/progress.ts'
import { seedDemo } from '../sandbox/seed/seed-demo.ts'
import { runDetached } from './up/detached.ts'
import { refuseIfTaken } from './up/down.ts'
import { explainStart } from './up/explain.ts'
import { IDENTITY_KINDS, databaseOf, identityOf, portOf, refuseLive } from './up/plan.ts'
import type { UpPlan } from './up/plan.ts'
import { runForeground } from './up/start.ts'

const UpOptions = z.object({
  port: z.string(),
  db: z.string().optional(),
  idp: z.enum(IDENTITY_KINDS).optional(),
  authUrl: z.string().optional(),
  bank: z.literal('model').optional(),
  seed: z.literal('demo').optional(),
  detach: z.boolean().default(false),
})

export function addUp(command: Command, runtime: Runtime): void {
  command
    .option('--port <port>', 'Port of the API on 127.0.0.1; 0 picks a free one', '8080')
    .option('--db <database>', 'Database: embedded, or a postgres:// address (SVC_DATABASE_URL)')
    .addOption(new Option('--idp <kind>', 'Identity provider (embedded); none trusts headers').choices(IDENTITY_KINDS))
    .option('--auth-url <url>', 'Address of Keycloak, as in its tokens (SVC_AUTH_URL)')
    .addOption(new Option('--bank <bank>', 'Run a bank beside it: model, which speaks Open Banking').choices(['model']))
    .addOption(
      new Option(
        '--seed <what>',
        'Add sample data once: merchants, payments, disputes, payouts, dead webhooks',
      ).choices(['demo']),
    )
    .option('--detach', 'Run in the background; the log is in the state directory')
    .addHelpText('after', EXAMPLES)
    .action(action(runtime, UpOptions, up))
}

const EXAMPLES = `
Ctrl+C stops everything; a second one stops it at once. The data stays in the state directory (.svc).

Examples:
  svc up
  svc up --port 0 --state-dir /tmp/shop --detach --json
  svc up --seed demo                                            with merchants that trade, and work for operators
  svc up --bank model                                           with a bank to register at and to redirect to
  svc up --idp none                                             without logins: headers say who calls
  SVC_KEYCLOAK_CLIENT_SECRET=... svc up --idp keycloak --auth-url http://127.0.0.1:8081
  svc up --db postgres://svc:secret@127.0.0.1:5432/svc
`

async function up(context: Context, { options }: InputOf<typeof UpOptions>): Promise<CommandResult> {
  refuseLive({ mode: variableIn(context.io.env, 'SVC_MODE') })
  const starting = startProgress(context)
  const plan: UpPlan = {
    stateDir: context.stateDir,
    port: portOf(options.port),
    database: databaseOf(options.db, context.io.env),
    ...identityOf(options, context.io.env),
    bank: options.bank,
    env: context.io.env,
    logLevel: 'warn',
    note: starting.note,
  }
  try {
    await refuseIfTaken(plan.stateDir)
    const ready = async (state: ServiceState): Promise<void> => {
      if (options.seed !== undefined) await seedDemo(state, plan.note)
      await starting.end()
      printReady(context, state, { isDetached: options.detach })
    }
    if (options.detach) await ready(await runDetached(plan))
    else await runForeground(plan, ready)
  } catch (error) {
    throw explainStart(error)
  } finally {
    await starting.end()
  }
}

/** A line that tells how long the start takes, for as long as it does; a first one makes a database. */
function startProgress(context: Context): { note(text: string): void; end(): Promise<void> } {
  const { promise: isUp, resolve } = Promise.withResolvers<undefined>()
  let note = context.note
  const shown = withProgress(context, { title: 'Starting', unit: '' }, async (progress) => {
    note = progress.note
    await isUp
    note = context.note
  })
  return {
    note: (text) => note(text),
    async end() {
      resolve(undefined)
      await shown
    },
  }
}

/**
 * Says that everything answers: the whole state for programs; for people what to try, then addresses, and last the
 * logins, so that a terminal of 80 by 24 still shows them.
 */
function printReady(context: Context, state: ServiceState, { isDetached }: { isDetached: boolean }): void {
  const { io, print, paint } = context
  // Unlike a context's notes without the flags of this command: a line with a directory in it would be too long.
  const note = (text: string): void => io.stderr.write(`${asTyped(text, io.calledAs)}\n`)
  const elsewhere = stateDirLine(context, state, isDetached)
  if (!print.isMachine) {
    const where = isDetached ? '' : `, in another terminal${elsewhere === undefined ? ' in this directory' : ''}`
    note(`\n${paint('green', 'Everything runs.')} To try${where}:`)
    for (const line of nextSteps(state, elsewhere, io.calledAs)) note(line)
  }
  print.record({
    item: state,
    id: String(state.pid),
    lines: [
      ['API', `${state.api_url} (described at /openapi.json), process ${state.pid}`],
      ['Demo shop', state.demo_url],
      ['Checkout', `${state.api_url}/widget-demo.html`],
      ['Payer hub', `${state.api_url}/hub`],
      ['Tokens', tokenUrl(state) ?? 'none: headers say who calls'],
      ['Database', withoutPassword(state.database_url)],
      ['State', `${state.state_dir} (in svc.json: merchant.webhook_secret)`],
      ...merchantLines(state),
      ...operatorLines(state),
      ...customerLines(state),
      ...bankLines(state),
    ],
  })
  if (!print.isMachine) note(paint('dim', isDetached ? 'To stop it: svc down' : 'Ctrl+C stops everything.'))
}

type Line = readonly [label: string, text: string]

function merchantLines({ merchant, auth_url: authUrl }: ServiceState): Line[] {
  if (authUrl === null) return [['Merchant', `${merchant.client_id} (send it as X-Merchant-Client-Id)`]]
  return [
    ['Server', `${merchant.client_id} and ${merchant.client_secret ?? ''}`],
    ['Merchant', `${merchant.email ?? ''} and ${merchant.password ?? ''}, realm ${merchant.realm}`],
  ]
}

/** The secret of the operator's programs stands in svc.json: who works at a terminal has no need of it. */
function operatorLines({ operator }: ServiceState): Line[] {
  if (operator === null) return []
  return [['Operator', `${operator.email} and ${operator.password}, realm ${operator.realm}`]]
}

/** The secret of the customer's programs stands in svc.json, as the operator's does. */
function customerLines({ customer, auth_url: authUrl }: ServiceState): Line[] {
  if (customer === null) return []
  if (authUrl === null) return [['Customer', `${customer.id} (send it as X-Customer-Id)`]]
  return [['Customer', `${customer.email ?? ''} and ${customer.password ?? ''}, realm ${customer.realm ?? ''}`]]
}

function bankLines({ model_bank: bank }: ServiceState): Line[] {
  if (bank === undefined) return []
  return [['Model bank', `${bank.issuer} (its books and faults: ${bank.control_url})`]]
}

function nextSteps(state: ServiceState, elsewhere: string | undefined, called: string): string[] {
  return [
    ...(elsewhere === undefined ? [] : [elsewhere]),
    '  svc payments create --amount 50.00 --currency GBP --approve --wait',
    ...(state.model_bank === undefined
      ? []
      : ['  svc payments create --amount 12.50 --currency GBP --debtor-bank-id model', '  svc banks test model']),
    '  svc listen',
    ...(state.customer === null ? [] : ['  svc ob accounts']),
    ...(state.auth_url === null ? [] : ['  svc api /api/v1/whoami']),
    'A merchant of your own, made by anybody and approved by the demo operator:',
    '  svc register --company Acme --trading-name Acme --email ada@acme.example',
    '  svc kyb approve acme --reason "documents checked"',
    `The console: ${called}. Besides: svc inbox, svc doctor, svc listen`,
    '',
  ]
}

/** Another terminal does not have this one's environment; undefined where commands find the service by themselves. */
function stateDirLine({ io }: Context, { state_dir: stateDir }: ServiceState, isDetached: boolean): string | undefined {
  if (relative(io.cwd, stateDir) === '.svc') return undefined
  if (isDetached && (io.env['SVC_STATE_DIR'] ?? '') !== '') return undefined
  return `  export SVC_STATE_DIR=${quoted(stateDir)}`
}

function tokenUrl({ auth_url: authUrl, merchant }: ServiceState): string | undefined {
  return authUrl === null ? undefined : `${authUrl}/realms/${merchant.realm}/protocol/openid-connect/token`
}

function withoutPassword(url: string): string {
  return url.replace(/^(\w+:\/\/[^:/@]+):[^@]*@/, '$1:****@')
}
