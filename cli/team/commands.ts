import { Option } from 'commander'
import type { Command } from 'commander'
import { z } from 'zod'
import { MerchantRole } from '../../src/wire/team.ts'
import { ChangeOptions, changing, dangerous } from '../kit/change.ts'
import { action } from '../kit/context.ts'
import type { Runtime } from '../kit/context.ts'
import { InviteOptions, changeRole, invite, list, remove } from './members.ts'

const WHO = 'the e-mail address, the id, or its last 8 characters or more'

/** `svc team`: who works for the merchant. */
export function addTeam(team: Command, runtime: Runtime): void {
  team.addHelpText('after', '\nExamples:\n  svc team invite --email grace@acme.example --role DEVELOPER\n')
  team
    .command('list')
    .description("list the merchant's team; who is invited stands in it at once")
    .addHelpText('after', '\nExamples:\n  svc team list\n')
    .action(action(runtime, z.object({}), list))
  changing(team.command('invite'))
    .description('invite someone by e-mail; an invitation that was not taken is sent again')
    .requiredOption('--email <address>', 'what the person will sign in with')
    .addOption(
      new Option('--role <role>', 'what the person may do').choices(MerchantRole.options).makeOptionMandatory(),
    )
    .addHelpText('after', '\nExamples:\n  svc team invite --email grace@acme.example --role DEVELOPER\n')
    .action(action(runtime, InviteOptions, invite))
  changing(team.command('role'))
    .description("change a team member's role; the last ADMIN stays one")
    .argument('<who>', WHO)
    .argument('<role>', MerchantRole.options.join(', '))
    .addHelpText('after', '\nExamples:\n  svc team role grace@acme.example FINANCE\n')
    .action(action(runtime, ChangeOptions, changeRole))
  dangerous(team.command('remove'))
    .description('remove someone: the account, its sessions and its tokens; the last ADMIN stays')
    .argument('<who>', WHO)
    .addHelpText('after', '\nExamples:\n  svc team remove grace@acme.example\n')
    .action(action(runtime, ChangeOptions, remove))
}
