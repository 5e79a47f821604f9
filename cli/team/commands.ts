import type { Command } from 'commander'
import { z } from 'zod'
import { addActions } from '../kit/action-command.ts'
import { action } from '../kit/context.ts'
import type { Runtime } from '../kit/context.ts'
import { STAFF_ACTIONS, TEAM_ACTIONS } from './actions.ts'
import { listMembers, listOperators } from './members.ts'

/** `svc team`: who works for the merchant. */
export function addTeam(team: Command, runtime: Runtime): void {
  team
    .command('list')
    .description('List team members and pending invitations')
    .addHelpText('after', '\nExamples:\n  svc team list\n')
    .action(action(runtime, z.object({}), listMembers))
  addActions(team, runtime, TEAM_ACTIONS)
}

/** `svc staff`: who operates the platform. */
export function addStaff(staff: Command, runtime: Runtime): void {
  staff
    .command('list')
    .description('List staff members')
    .addHelpText('after', '\nExamples:\n  svc staff list\n')
    .action(action(runtime, z.object({}), listOperators))
  addActions(staff, runtime, STAFF_ACTIONS)
}
