import type { Command } from 'commander'
import { z } from 'zod'
import { DomainError } from '../../src/lib/errors.ts'
import { action } from '../context.ts'
import type { CommandInput, CommandResult, Context, Runtime } from '../context.ts'
import { CliError } from '../errors.ts'
import { EXIT } from '../exit-codes.ts'
import { shortTime } from '../text.ts'

const InitOptions = z.object({
  email: z.email('must be an e-mail address').transform((email) => email.toLowerCase()),
  name: z.string().trim().min(1).max(200).optional(),
})
type InitOptions = z.infer<typeof InitOptions>

export function addInit(program: Command, runtime: Runtime): void {
  program
    .command('init')
    .description("invite the platform's first OWNER; configured by the environment, as svc serve is")
    .requiredOption('--email <address>', 'who it is')
    .option('--name <name>', 'what to call them')
    .addHelpText('after', EXAMPLES)
    .action(action(runtime, InitOptions, init))
}

const EXAMPLES = `
Prints a link, once, by which the OWNER sets a password. Until it is used, the same command prints a new one.

Examples:
  SVC_DATABASE_URL=postgres://... SVC_ENCRYPTION_KEY=... svc init --email ada@pay.example --name "Ada Lovelace"
`

async function init(context: Context, { options }: CommandInput<InitOptions>): Promise<CommandResult> {
  const made = await makeOwner(context.io.env, options)
  const { link, link_expires_at } = made
  context.print.record({
    item: made,
    id: made.email,
    lines: [
      ['OWNER', made.email],
      ['Realm', made.realm],
      ['Set a password at', link ?? ''],
      ['Until', link === null ? '' : shortTime(link_expires_at)],
    ],
  })
  context.note(
    link === null
      ? 'There is no identity provider: nobody signs in.'
      : 'The link works once, and is not shown again. Then: svc login --platform --api-url <the public address>',
  )
  return undefined
}

/** @throws {CliError} USER_EXISTS, exit code 7, where the platform has its OWNER */
async function makeOwner(env: NodeJS.ProcessEnv, { email, name }: InitOptions) {
  const [{ openApp }, { explainStart }, { checkMasterKey }, { initPlatform }] = await Promise.all([
    import('../up/part.ts'),
    import('../up/explain.ts'),
    import('../../src/merchants/check-master-key.ts'),
    import('../../src/staff/init-platform.ts'),
  ])
  const { app } = await openApp(env)
  try {
    await checkMasterKey(app).catch((error: unknown) => Promise.reject(explainStart(error)))
    return await initPlatform(app, { email, displayName: name })
  } catch (error) {
    throw refusal(error)
  } finally {
    await app.close()
  }
}

/** What the system refuses, in the form of a command's failure. */
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
