import type { Command } from 'commander'
import { z } from 'zod'
import { action } from '../context.ts'
import type { CommandInput, CommandResult, Context, Runtime } from '../context.ts'

export function addLogout(program: Command, runtime: Runtime): void {
  program
    .command('logout')
    .description('end the session of a profile, here and at the identity provider')
    .addHelpText('after', '\nExamples:\n  svc logout\n  svc logout --profile acme-ltd\n')
    .action(action(runtime, z.object({}), logout))
}

async function logout(context: Context, _input: CommandInput<object>): Promise<CommandResult> {
  const { meantProfile, refuseClient, signOut } = await import('../auth/sign-out.ts')
  const profile = meantProfile(context)
  refuseClient(context, profile)
  const ended = await signOut(context, profile)
  context.print.record({
    item: { profile, signed_out: ended.length > 0, revoked: ended.every((each) => each.isRevoked) },
    id: profile,
    lines: ended.map(({ realm }) => ['Signed out of', `${realm} (${profile})`] as const),
  })
  if (ended.length === 0) context.note(`Nobody was signed in to ${profile}.`)
  if (ended.some((each) => !each.isRevoked))
    context.note('The identity provider was not reached: the session ends there when its time is over.')
  return undefined
}
