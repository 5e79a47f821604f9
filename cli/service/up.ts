import { relative } from 'node:path'
import { asTyped, quoted } from '../base/command-hints.ts'
import { variableIn } from '../base/environment-variables.ts'
import type { ServiceState } from '../client/service-state.ts'
import { command } from '../kit/command.ts'
import type { Context } from '../kit/context.ts'
import { withProgress } from '../output/progress.ts'
import { seedDemo } from '../sandbox/seed/seed-demo.ts'
import { runDetached } from './up/detached.ts'
import { refuseIfTaken } from './up/down.ts'
import { explainStart } from './up/explain.ts'
import { BANKS, IDENTITY_KINDS, databaseOf, identityOf, portOf, refuseLive } from './up/plan.ts'
import type { UpPlan } from './up/plan.ts'
import { runForeground } from './up/start.ts'

export const up = command({
  command: 'up',
  summary: 'Start everything, with a demo merchant',
  details: 'Ctrl+C stops everything; a second one stops it at once. The data stays in the state directory (.svc).',
  examples: [
    'svc up',
    'svc up --port 0 --state-dir /tmp/shop --detach --json',
    'svc up --seed demo                                            with demo merchants, sample payments and tasks for operators',
    'svc up --bank model                                           with a bank that speaks Open Banking',
    'svc up --idp none                                             without logins: headers name the caller',
    'SVC_KEYCLOAK_CLIENT_SECRET=... svc up --idp keycloak --auth-url http://127.0.0.1:8081',
    'svc up --db postgres://svc:secret@127.0.0.1:5432/svc',
  ],
  flags: {
    port: { value: 'port', summary: 'Port of the API on 127.0.0.1; 0 picks a free one', initial: '8080' },
    db: { value: 'database', summary: 'Database: embedded, or a postgres:// address (SVC_DATABASE_URL)' },
    idp: { value: 'kind', summary: 'Identity provider (embedded); none trusts headers', choices: IDENTITY_KINDS },
    authUrl: { value: 'url', summary: 'Address of Keycloak, as in its tokens (SVC_AUTH_URL)' },
    bank: { value: 'bank', summary: 'Run a bank beside it that speaks Open Banking, 4.0 or 3.1', choices: BANKS },
    seed: {
      value: 'what',
      summary: 'Add sample data once: merchants, payments, disputes, payouts, dead webhooks',
      choices: ['demo'],
    },
    detach: { summary: 'Run in the background; the log is in the state directory' },
  },
  async run(context, input) {
    refuseLive({ mode: variableIn(context.io.env, 'SVC_MODE') })
    const starting = startProgress(context)
    const plan: UpPlan = {
      stateDir: context.stateDir,
      port: portOf(input.port),
      database: databaseOf(input.db, context.io.env),
      ...identityOf(input, context.io.env),
      bank: input.bank,
      env: context.io.env,
      logLevel: 'warn',
      note: starting.note,
    }
    try {
      await refuseIfTaken(plan.stateDir)
      const ready = async (state: ServiceState): Promise<void> => {
        if (input.seed !== undefined) await seedDemo(state, plan.note)
        await starting.end()
        printReady(context, state, { isDetached: input.detach })
      }
      if (input.detach) await ready(await runDetached(plan))
      else await runForeground(plan, ready)
    } catch (error) {
      throw explainStart(error)
    } finally {
      await starting.end()
    }
  },
})

/** A line that shows how long the start takes, for as long as it does; a first one makes a database. */
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
  print.record(
    state,
    [
      ['API', `${state.api_url} (described at /openapi.json), process ${state.pid}`],
      ['Demo shop', state.demo_url],
      ['Checkout', `${state.api_url}/widget-demo.html`],
      ['Payer hub', `${state.api_url}/hub`],
      ['Tokens', tokenUrl(state) ?? 'none: headers say who calls'],
      ['Database', withoutPassword(state.database_url)],
      ['State', `${state.state_dir} (in svc.json: merchant.webhook_secret)`],
      ...loginLines(state),
    ],
    { id: String(state.pid) },
  )
  if (!print.isMachine) note(paint('dim', isDetached ? 'To stop it: svc down' : 'Ctrl+C stops everything.'))
}

type Line = readonly [label: string, text: string]

/** Who there is to act as. The secrets of programs stand in svc.json: who works at a terminal has no need of them. */
function loginLines({ merchant, operator, customer, model_bank: bank, auth_url: authUrl }: ServiceState): Line[] {
  const person = ({ email, password, realm }: Partial<Record<'email' | 'password' | 'realm', unknown>>): string =>
    `${String(email ?? '')} and ${String(password ?? '')}, realm ${String(realm ?? '')}`
  const ofProvider: Line[] = [
    ['Server', `${merchant.client_id} and ${merchant.client_secret ?? ''}`],
    ['Merchant', person(merchant)],
    ['Operator', operator === null ? '' : person(operator)],
    ['Customer', customer === null ? '' : person(customer)],
  ]
  const byHeader: Line[] = [
    ['Merchant', `${merchant.client_id} (send it as X-Merchant-Client-Id)`],
    ['Customer', customer === null ? '' : `${customer.id} (send it as X-Customer-Id)`],
  ]
  return [
    ...(authUrl === null ? byHeader : ofProvider),
    ['Model bank', bank === undefined ? '' : `${bank.issuer} (its books and faults: ${bank.control_url})`],
  ]
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
    'A merchant of your own, which the demo operator approves:',
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
