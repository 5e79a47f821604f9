import type { Command } from 'commander'
import { z } from 'zod'
import { meansAllMerchants } from '../client/auth/acting-side.ts'
import { addAction, addActions } from '../kit/action-command.ts'
import type { Variant } from '../kit/action-command.ts'
import type { AnyAction } from '../kit/action.ts'
import { action } from '../kit/context.ts'
import type { Runtime } from '../kit/context.ts'
import { STAFF_ACTIONS, TEAM_ACTIONS } from './actions.ts'
import { CREATE, REVOKE, ROTATE } from './credential-actions.ts'
import { ListOptions, list } from './credential-list.ts'
import { listMembers, listOperators } from './members.ts'
import { subcommand } from '../kit/option-values.ts'

export function addTeam(team: Command, runtime: Runtime): void {
  subcommand(team, 'list', 'List team members and pending invitations')
    .addHelpText('after', '\nExamples:\n  svc team list\n')
    .action(action(runtime, z.object({}), listMembers))
  addActions(team, runtime, TEAM_ACTIONS)
}

export function addStaff(staff: Command, runtime: Runtime): void {
  subcommand(staff, 'list', 'List staff members')
    .addHelpText('after', '\nExamples:\n  svc staff list\n')
    .action(action(runtime, z.object({}), listOperators))
  addActions(staff, runtime, STAFF_ACTIONS)
}

export function addCredentials(credentials: Command, runtime: Runtime): void {
  subcommand(credentials, 'list', 'List API clients')
    .option('--platform', CREATE.own.flags.platform.summary)
    .addHelpText(
      'after',
      '\nSecrets are not shown again.\n\nExamples:\n  svc credentials list\n  svc credentials list --platform\n',
    )
    .action(action(runtime, ListOptions, list))
  addAction(credentials, runtime, CREATE.own, bySide(CREATE))
  addAction(credentials, runtime, ROTATE)
  addAction(credentials, runtime, REVOKE.own, bySide(REVOKE))
}

/** The action of the side that the command means. */
function bySide({ own, ofPlatform }: { own: AnyAction; ofPlatform: AnyAction }): Variant {
  return {
    choose: async (context, { platform }) =>
      (await meansAllMerchants(context.client(), platform === true)) ? ofPlatform : own,
  }
}
