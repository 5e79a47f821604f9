import { z } from 'zod'
import type { App } from '../../src/app.ts'
import { DomainError } from '../../src/lib/errors.ts'
import { PLATFORM_REALM } from '../../src/lib/realms.ts'
import { CliError, usageError } from '../base/errors.ts'
import { EXIT } from '../base/exit-codes.ts'
import { shortTime } from '../base/text.ts'
import { CHANGING } from '../kit/change.ts'
import { command } from '../kit/command.ts'
import type { CommandResult, Context } from '../kit/context.ts'
import { withApp } from './up/part.ts'

/** An e-mail address is in lower case everywhere. */
function address(text: string): string {
  if (z.email().safeParse(text).success) return text.toLowerCase()
  throw usageError('must be an e-mail address')
}

function nameOf(text: string): string {
  if (z.string().trim().min(1).max(200).safeParse(text).success) return text.trim()
  throw usageError('must have 1 to 200 characters')
}

export const bootstrap = command({
  command: 'staff bootstrap',
  summary: "Invite the platform's first OWNER",
  details: `Prints a link, once, by which the OWNER sets a password. Until it is used, the same command prints a new one. A
Keycloak sends it by mail instead, over SVC_SMTP_URL.`,
  examples: [
    'svc staff bootstrap --email ada@pay.example --dry-run',
    'svc staff bootstrap --email ada@pay.example --reset-factor',
    'SVC_DATABASE_URL=postgres://... SVC_ENCRYPTION_KEY=... svc staff bootstrap --email ada@pay.example --name "Ada Lovelace"',
  ],
  flags: {
    ...CHANGING,
    email: { value: 'address', summary: 'E-mail address of the OWNER', required: true, read: address },
    name: { value: 'name', summary: 'Name of the OWNER', read: nameOf },
    resetFactor: { summary: 'Reset the second factor of an OWNER who has lost it', excludes: ['name'] },
  },
  async run(context, input) {
    if (input.resetFactor) return resetFactor(context, input)
    if (input.dryRun) return printPlan(context, input)
    const { made, kind, publicUrl } = await makeOwner(context.io.env, input)
    const { link, link_expires_at } = made
    const delivered = link !== null ? 'link' : kind === 'none' ? null : 'mail'
    context.print.record({ ...made, delivered }, [
      ['OWNER', made.email],
      ['Realm', made.realm],
      ['Set a password at', link ?? ''],
      ['Invited', delivered === 'mail' ? `by a mail to ${made.email}` : ''],
      ['Until', delivered === null ? '' : shortTime(link_expires_at)],
    ])
    context.note(nextStep(delivered, publicUrl))
  },
})

async function resetFactor(
  context: Context,
  { email, dryRun }: { email: string; dryRun: boolean },
): Promise<CommandResult> {
  const { currentOwners, resetOwnerFactor } = await import('../../src/staff/init-platform.ts')
  await withApp(context.io.env, async (app) => {
    if (!dryRun) return resetOwnerFactor(app, email)
    if (!(await currentOwners(app)).includes(email))
      throw new DomainError('STAFF_NOT_FOUND', `${email} is not an OWNER`)
  }).catch((error: unknown) => Promise.reject(refusal(error)))
  context.print.record({ email, realm: PLATFORM_REALM, reset_factor: true, dry_run: dryRun }, [
    [dryRun ? 'Would reset the second factor of' : 'Second factor reset of', email],
  ])
  context.note(
    dryRun ? 'Nothing was changed.' : 'All sessions have ended. The next sign-in sets up an authenticator app.',
  )
}

type Owner = { email: string; name: string | undefined }

function nextStep(delivered: 'link' | 'mail' | null, publicUrl: string): string {
  if (delivered === null) return 'There is no identity provider, so the owner does not have to sign in.'
  const then = `Then: svc login --platform --api-url ${publicUrl}`
  return delivered === 'link'
    ? `The link works once, and is not shown again. ${then}`
    : `The link in the mail sets a password; the same command sends another mail. ${then}`
}

async function printPlan(context: Context, { email, name }: Owner): Promise<CommandResult> {
  const { currentOwners } = await import('../../src/staff/init-platform.ts')
  const owners = await withOwnersApp(context.io.env, (app) => currentOwners(app))
  context.print.record(
    { dry_run: true, realm: PLATFORM_REALM, email, role: 'OWNER', display_name: name ?? null, owners },
    [
      ['Would invite', name === undefined ? email : `${name}, ${email}`],
      ['As', `OWNER of realm ${PLATFORM_REALM}`],
      ['OWNERs now', owners.length === 0 ? 'none' : owners.join(', ')],
    ],
    { id: email },
  )
  context.note('Nothing was changed.')
}

/** @throws {CliError} USER_EXISTS, exit code 7, where the platform has its OWNER */
async function makeOwner(env: NodeJS.ProcessEnv, { email, name }: Owner) {
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

/** Keycloak returns no links: it sends them, and needs a mail server for it. */
function refuseWithoutMail({ identity, config }: App): void {
  if (identity.kind !== 'keycloak' || config.smtpUrl !== undefined) return
  throw new CliError('CONFIGURATION', 'SVC_SMTP_URL is missing: Keycloak sends the invitation by mail', {
    hint: 'SVC_SMTP_URL=smtps://user:password@mail.example.com and SVC_MAIL_FROM',
  })
}

function refusal(error: unknown): unknown {
  if (error instanceof Error && error.name === 'IdentityUnavailableError')
    return new CliError('IDP_UNAVAILABLE', error.message, { retryable: true, cause: error })
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
