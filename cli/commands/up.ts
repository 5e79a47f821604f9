import { Option } from 'commander'
import type { Command } from 'commander'
import { z } from 'zod'
import { action } from '../context.ts'
import type { CommandInput, CommandResult, Context, Runtime } from '../context.ts'
import { printReady } from '../up/banner.ts'
import { runDetached } from '../up/detached.ts'
import { explainStart } from '../up/explain.ts'
import { runForeground } from '../up/foreground.ts'
import { IDENTITY_KINDS, databaseOf, identityOf, portOf } from '../up/plan.ts'
import type { UpPlan } from '../up/plan.ts'
import { refuseIfTaken } from '../up/running.ts'

const UpOptions = z.object({
  port: z.string(),
  db: z.string().optional(),
  idp: z.enum(IDENTITY_KINDS).optional(),
  authUrl: z.string().optional(),
  detach: z.boolean().default(false),
})
type UpOptions = z.infer<typeof UpOptions>

export function addUp(program: Command, runtime: Runtime): void {
  program
    .command('up')
    .description('start everything: database, API, identity provider, worker and mock bank, with a merchant to try it')
    .option('--port <port>', 'where the API listens on 127.0.0.1; 0 for any free port', '8080')
    .option('--db <database>', 'embedded, or the postgres:// address of one of your own (SVC_DATABASE_URL)')
    .addOption(
      new Option(
        '--idp <kind>',
        'who proves identities: the embedded provider (embedded), a Keycloak, or none, which trusts headers',
      ).choices(IDENTITY_KINDS),
    )
    .option('--auth-url <url>', 'where Keycloak is, as its tokens name it (SVC_AUTH_URL)')
    .option('--detach', 'run in the background, with a log in the state directory')
    .addHelpText('after', EXAMPLES)
    .action(action(runtime, UpOptions, up))
}

const EXAMPLES = `
Ctrl+C stops everything; a second one stops it at once. The data stays in the state directory (.svc).

Examples:
  svc up
  svc up --port 0 --state-dir /tmp/shop --detach --json
  svc up --idp none                                             without logins: headers say who calls
  SVC_KEYCLOAK_CLIENT_SECRET=... svc up --idp keycloak --auth-url http://127.0.0.1:8081
  svc up --db postgres://svc:secret@127.0.0.1:5432/svc
`

async function up(context: Context, { options }: CommandInput<UpOptions>): Promise<CommandResult> {
  const plan: UpPlan = {
    stateDir: context.stateDir,
    port: portOf(options.port),
    database: databaseOf(options.db, context.io.env),
    ...identityOf(options, context.io.env),
    env: context.io.env,
    logLevel: 'warn',
    note: context.note,
  }
  try {
    await refuseIfTaken(plan.stateDir)
    if (options.detach) printReady(context, await runDetached(plan), { isDetached: true })
    else await runForeground(plan, (state) => printReady(context, state, { isDetached: false }))
  } catch (error) {
    throw explainStart(error)
  }
  return undefined
}
