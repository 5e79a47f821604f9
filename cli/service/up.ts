import { Option } from 'commander'
import type { Command } from 'commander'
import { z } from 'zod'
import { action } from '../kit/context.ts'
import type { CommandResult, Context, InputOf, Runtime } from '../kit/context.ts'
import type { ServiceState } from '../client/service-state.ts'
import { printReady } from './up/banner.ts'
import { runDetached } from './up/detached.ts'
import { explainStart } from './up/explain.ts'
import { runForeground } from './up/start.ts'
import { IDENTITY_KINDS, databaseOf, identityOf, portOf, refuseLive } from './up/plan.ts'
import type { UpPlan } from './up/plan.ts'
import { withProgress } from '../output/progress.ts'
import { variableIn } from '../base/environment-variables.ts'
import { refuseIfTaken } from './up/down.ts'
import { seedDemo } from '../sandbox/seed/seed-demo.ts'

const UpOptions = z.object({
  port: z.string(),
  db: z.string().optional(),
  idp: z.enum(IDENTITY_KINDS).optional(),
  authUrl: z.string().optional(),
  seed: z.literal('demo').optional(),
  detach: z.boolean().default(false),
})

export function addUp(command: Command, runtime: Runtime): void {
  command
    .option('--port <port>', 'Port of the API on 127.0.0.1; 0 picks a free one', '8080')
    .option('--db <database>', 'Database: embedded, or a postgres:// address (SVC_DATABASE_URL)')
    .addOption(new Option('--idp <kind>', 'Identity provider (embedded); none trusts headers').choices(IDENTITY_KINDS))
    .option('--auth-url <url>', 'Address of Keycloak, as in its tokens (SVC_AUTH_URL)')
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
