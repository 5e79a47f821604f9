import type { Command } from 'commander'
import { z } from 'zod'
import type { ProfileKind } from '../client/auth/profiles.ts'
import { action } from '../kit/context.ts'
import type { CommandInput, CommandResult, Context, Runtime } from '../kit/context.ts'
import { DataOption } from '../kit/option-values.ts'

const LogoutOptions = z.object({ platform: z.boolean().default(false), customer: z.boolean().default(false) })
type LogoutOptions = z.infer<typeof LogoutOptions>

export function addLogout(command: Command, runtime: Runtime): void {
  command
    .addOption(new DataOption('--platform', 'Sign out only the operator').conflicts('customer'))
    .option('--customer', "Sign out only the bank's customer of svc ob")
    .addHelpText('after', '\nExamples:\n  svc logout\n  svc logout --customer\n  svc logout --profile acme-ltd\n')
    .action(action(runtime, LogoutOptions, logout))
}

async function logout(context: Context, { options }: CommandInput<LogoutOptions>): Promise<CommandResult> {
  const { meantProfile, refuseClient, refuseOtherKind, signOut } = await import('./sign-out.ts')
  const profile = meantProfile(context)
  const kind = onlyOf(options)
  if (kind !== undefined) refuseOtherKind(context, profile, kind)
  refuseClient(context, profile)
  const ended = await signOut(context, profile, kind)
  context.print.record({
    item: { profile, signed_out: ended.length > 0, revoked: ended.every((each) => each.isRevoked) },
    id: profile,
    lines: ended.map(({ realm }) => ['Signed out of', `${realm} (${profile})`] as const),
  })
  if (ended.length === 0)
    context.note(`Nobody was signed in to ${profile}${kind === undefined ? '' : ` as ${WHO[kind]}`}.`)
  if (ended.some((each) => !each.isRevoked))
    context.note('The identity provider was not reached: the session ends there when its time is over.')
  return undefined
}

const WHO = { merchant: 'a merchant', platform: 'an operator', customer: 'a customer' } as const

/** Of the built-in profile, which keeps a session for each kind, the one that is meant; undefined for all of them. */
function onlyOf({ platform, customer }: LogoutOptions): ProfileKind | undefined {
  if (platform) return 'platform'
  return customer ? 'customer' : undefined
}
