import type { Command } from 'commander'
import { z } from 'zod'
import type { App } from '../../src/app.ts'
import { DomainError } from '../../src/lib/errors.ts'
import { PLATFORM_REALM } from '../../src/lib/realms.ts'
import { changing } from '../kit/change.ts'
import { action } from '../kit/context.ts'
import type { CommandInput, CommandResult, Context, Runtime } from '../kit/context.ts'
import { CliError } from '../base/errors.ts'
import { EXIT } from '../base/exit-codes.ts'
import { withApp } from './up/part.ts'
import { shortTime } from '../base/text.ts'
import { subcommand } from '../kit/option-values.ts'

const BootstrapOptions = z.object({
  email: z.email('must be an e-mail address').transform((email) => email.toLowerCase()),
  name: z.string().trim().min(1).max(200).optional(),
  dryRun: z.boolean().default(false),
})
type BootstrapOptions = z.infer<typeof BootstrapOptions>

/** `svc staff bootstrap`: the platform's first OWNER, by whoever installs it. */
export function addStaffBootstrap(staff: Command, runtime: Runtime): void {
  changing(subcommand(staff, 'bootstrap', "Invite the platform's first OWNER"))
    .requiredOption('--email <address>', 'E-mail address of the OWNER')
    .option('--name <name>', 'Name of the OWNER')
    .addHelpText('after', EXAMPLES)
    .action(action(runtime, BootstrapOptions, bootstrap))
}

const EXAMPLES = `
Prints a link, once, by which the OWNER sets a password. Until it is used, the same command prints a new one. A
Keycloak sends it by mail instead, over SVC_SMTP_URL.

Examples:
  svc staff bootstrap --email ada@pay.example --dry-run
  SVC_DATABASE_URL=postgres://... SVC_ENCRYPTION_KEY=... svc staff bootstrap --email ada@pay.example --name "Ada Lovelace"
`

async function bootstrap(context: Context, { options }: CommandInput<BootstrapOptions>): Promise<CommandResult> {
  if (options.dryRun) return tellPlan(context, options)
  const { made, kind, publicUrl } = await makeOwner(context.io.env, options)
  const { link, link_expires_at } = made
  const delivered = link !== null ? 'link' : kind === 'none' ? null : 'mail'
  context.print.record({
    item: { ...made, delivered },
    id: made.email,
    lines: [
      ['OWNER', made.email],
      ['Realm', made.realm],
      ['Set a password at', link ?? ''],
      ['Invited', delivered === 'mail' ? `by a mail to ${made.email}` : ''],
      ['Until', delivered === null ? '' : shortTime(link_expires_at)],
    ],
  })
  context.note(nextStep(delivered, publicUrl))
}

function nextStep(delivered: 'link' | 'mail' | null, publicUrl: string): string {
  if (delivered === null) return 'There is no identity provider: nobody signs in.'
  const then = `Then: svc login --platform --api-url ${publicUrl}`
  return delivered === 'link'
    ? `The link works once, and is not shown again. ${then}`
    : `The link in the mail sets a password; the same command sends another mail. ${then}`
}

async function tellPlan(context: Context, { email, name }: BootstrapOptions): Promise<CommandResult> {
  const { currentOwners } = await import('../../src/staff/init-platform.ts')
  const owners = await withOwnersApp(context.io.env, (app) => currentOwners(app))
  context.print.record({
    item: { dry_run: true, realm: PLATFORM_REALM, email, role: 'OWNER', display_name: name ?? null, owners },
    id: email,
    lines: [
      ['Would invite', name === undefined ? email : `${name}, ${email}`],
      ['As', `OWNER of realm ${PLATFORM_REALM}`],
      ['OWNERs now', owners.length === 0 ? 'none' : owners.join(', ')],
    ],
  })
  context.note('Nothing was changed.')
}

/** @throws {CliError} USER_EXISTS, exit code 7, where the platform has its OWNER */
async function makeOwner(env: NodeJS.ProcessEnv, { email, name }: BootstrapOptions) {
  const { initPlatform } = await import('../../src/staff/init-platform.ts')
  return withOwnersApp(env, async (app) => ({
    made: await initPlatform(app, { email, displayName: name }),
    kind: app.identity.kind,
    publicUrl: app.publicUrl,
  }))
}

async function withOwnersApp<T>(env: NodeJS.ProcessEnv, work: (app: App) => Promise<T>): Promise<T> {
  return withApp(env, (app) => {
    refuseWithoutMail(app)
    return work(app)
  }).catch((error: unknown) => Promise.reject(refusal(error)))
}

/** Keycloak gives its links to nobody: it sends them, and needs a mail server for it. */
function refuseWithoutMail({ identity, config }: App): void {
  if (identity.kind !== 'keycloak' || config.smtpUrl !== undefined) return
  throw new CliError('CONFIGURATION', 'SVC_SMTP_URL is missing: Keycloak sends the invitation by mail', {
    exit: EXIT.usage,
    hint: 'SVC_SMTP_URL=smtps://user:password@mail.example.com and SVC_MAIL_FROM',
  })
}

function refusal(error: unknown): unknown {
  if (error instanceof Error && error.name === 'IdentityUnavailableError')
    return new CliError('IDP_UNAVAILABLE', error.message, { exit: EXIT.network, retryable: true, cause: error })
  if (!(error instanceof DomainError)) return error
  const { code, message, next, errors } = error
  return new CliError(code, message, {
    // It makes one thing: what is not wrong in the command line is in the way of that.
    exit: code === 'VALIDATION_FAILED' ? EXIT.usage : EXIT.conflict,
    hint: next,
    ...(errors === undefined ? {} : { fields: errors }),
    cause: error,
  })
}
