import type { Command } from 'commander'
import { z } from 'zod'
import { usageError } from '../base/errors.ts'
import { action, durationOf } from '../kit/context.ts'
import type { CommandResult, Context, InputOf, Runtime } from '../kit/context.ts'
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

const WAYS = ['device', 'withToken', 'nonInteractive', 'complete'] as const

export function addLogin(command: Command, runtime: Runtime): void {
  command
    .optionsGroup('Where:')
    .addOption(
      new DataOption('--realm <realm>', "A merchant's realm: the slug of the company").conflicts([
        'platform',
        'customer',
      ]),
    )
    .addOption(new DataOption('--platform', "The platform's realm, for operators").conflicts('customer'))
    .option('--customer', "The realm of the bank's customers, for svc ob")
    .optionsGroup('How:')
    .option('--device', 'Confirm a code on another device (default without a browser)')
    .option('--with-token', 'Read an access token from standard input')
    .option('--non-interactive', 'Start a device sign-in, print it as JSON, and return')
    .option('--complete', 'Complete the sign-in that --non-interactive started')
    .option('--timeout <duration>', 'Maximum time to wait for the sign-in', '5m')
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

async function login(context: Context, { options }: InputOf<typeof LoginOptions>): Promise<CommandResult> {
  const ways = WAYS.filter((way) => options[way])
  if (ways.length > 1) throw usageError('--device, --with-token, --non-interactive and --complete: one of them')
  const timeoutMs = durationOf(options.timeout, '--timeout')
  const parts = await import('./login-flow.ts')
  if (options.complete) return parts.completeDevice(context, timeoutMs)
  const target = await parts.findTarget(context, context.http(), options)
  if (options.withToken) return parts.takeToken(context, target)
  if (options.nonInteractive) return parts.beginDevice(context, target)
  return parts.signIn(context, target, { device: options.device, timeoutMs })
}
