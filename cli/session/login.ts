import type { Command } from 'commander'
import { z } from 'zod'
import { action, durationOf } from '../kit/context.ts'
import type { CommandInput, CommandResult, Context, Runtime } from '../kit/context.ts'
import { CliError, usageError, withHint } from '../base/errors.ts'
import { EXIT } from '../base/exit-codes.ts'
import { DataOption } from '../kit/option-values.ts'

const LoginOptions = z.object({
  realm: z.string().optional(),
  platform: z.boolean().default(false),
  customer: z.boolean().default(false),
  device: z.boolean().default(false),
  withToken: z.boolean().default(false),
  nonInteractive: z.boolean().default(false),
  complete: z.boolean().default(false),
  timeout: z.string(),
})
export type LoginOptions = z.infer<typeof LoginOptions>

const TIMEOUT = '5m'
const WAYS = ['device', 'withToken', 'nonInteractive', 'complete'] as const

export function addLogin(command: Command, runtime: Runtime): void {
  command
    .optionsGroup('Where:')
    .addOption(
      new DataOption('--realm <realm>', "a merchant's realm: the slug of the company").conflicts([
        'platform',
        'customer',
      ]),
    )
    .addOption(new DataOption('--platform', "the platform's realm, for operators").conflicts('customer'))
    .option('--customer', "the realm of the bank's customers, for svc ob")
    .optionsGroup('How:')
    .option('--device', 'confirm a code on another device; also what happens where there is no browser')
    .option('--with-token', 'take an access token from standard input, for programs; it is kept until it expires')
    .option('--non-interactive', 'begin with a code, print as JSON where to confirm it, and return')
    .option('--complete', 'wait for what --non-interactive began')
    .option('--timeout <duration>', 'how long to wait for the user', TIMEOUT)
    .addHelpText('after', EXAMPLES)
    .action(action(runtime, LoginOptions, login))
}

const EXAMPLES = `
Examples:
  svc login                                                        the demo merchant of svc up
  svc login --platform                                             as an operator
  svc login --customer                                             as a customer of the bank
  svc login --api-url https://pay.example --realm acme-ltd
  svc login --realm acme-ltd --with-token < token.txt
  svc login --realm acme-ltd --non-interactive; svc login --complete
`

/** Its parts are loaded when they are needed, for most commands need none of them. */
async function login(context: Context, { options }: CommandInput<LoginOptions>): Promise<CommandResult> {
  const ways = WAYS.filter((way) => options[way])
  if (ways.length > 1) throw usageError('--device, --with-token, --non-interactive and --complete: one of them')
  const timeoutMs = durationOf(options.timeout, '--timeout')
  const [parts, { findTarget }] = await Promise.all([import('./login-flow.ts'), import('./login-target.ts')])
  if (options.complete) return parts.completeDevice(context, timeoutMs)
  const target = await findTarget(context, context.http(), options)
  if (options.withToken) return parts.takeToken(context, target)
  if (options.nonInteractive) return parts.beginDevice(context, target)
  return parts.signIn(context, target, { device: options.device, timeoutMs }).catch((error: unknown) => {
    throw beginAgain(error, wordsOf(options, context.flags.profile))
  })
}

/** The command of this login, for a next step; where the service is, every next step says. */
function wordsOf({ realm, platform, customer, device, timeout }: LoginOptions, profile: string | undefined): string {
  return [
    'svc login',
    ...(profile === undefined ? [] : [`--profile ${profile}`]),
    ...(realm === undefined ? [] : [`--realm ${realm}`]),
    ...(platform ? ['--platform'] : []),
    ...(customer ? ['--customer'] : []),
    ...(device ? ['--device'] : []),
    ...(timeout === TIMEOUT ? [] : [`--timeout ${timeout}`]),
  ].join(' ')
}

/** A login that came to nothing can be begun again as it was. */
function beginAgain(error: unknown, words: string): unknown {
  if (!(error instanceof CliError)) return error
  if (error.code === 'LOGIN_TIMED_OUT')
    return withHint(error, words.includes('--device') ? words : `${words}\nwithout a browser here: ${words} --device`)
  const isOver =
    error.code === 'LOGIN_REFUSED' || (error.options.exit === EXIT.signedOut && error.options.hint === undefined)
  return isOver ? withHint(error, words) : error
}
