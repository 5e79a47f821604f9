import { Option } from 'commander'
import type { Command } from 'commander'
import { z } from 'zod'
import { PlatformRole } from '../../src/wire/staff.ts'
import { changing, dangerous } from '../kit/change.ts'
import { action } from '../kit/context.ts'
import type { Runtime } from '../kit/context.ts'
import { CreateOptions, RevokeOptions, clients, createClient, revokeClient } from './staff-clients.ts'
import { RotateOptions, rotateKeys } from './staff-keys.ts'
import { InviteOptions, RemoveOptions, RoleOptions, changeRole, invite, list, remove } from './staff-people.ts'

const WHO = 'the e-mail address, the id, or its last 8 characters or more'

/** `svc staff`: who operates the platform, people and programs. */
export function addStaffCommands(staff: Command, runtime: Runtime): void {
  staff.addHelpText(
    'after',
    '\nExamples:\n  svc staff invite --email ada@pay.example --role OPS --reason "joins the team"\n',
  )
  addPeople(staff, runtime)
  addClients(staff, runtime)
  addKeys(staff, runtime)
}

function addPeople(staff: Command, runtime: Runtime): void {
  staff
    .command('list')
    .description("list the platform's staff")
    .addHelpText('after', '\nExamples:\n  svc staff list\n')
    .action(action(runtime, z.object({}), list))
  changing(staff.command('invite'))
    .description('invite someone by e-mail; an invitation that was not taken is sent again')
    .requiredOption('--email <address>', 'what the person will sign in with')
    .addOption(roleOption().makeOptionMandatory())
    .option('--name <name>', 'as the audit trail shows it')
    .requiredOption('--reason <text>', 'why; it stands in the audit trail')
    .addHelpText(
      'after',
      '\nExamples:\n  svc staff invite --email ada@pay.example --role OPS --name "Ada Lovelace" --reason "joins the team"\n',
    )
    .action(action(runtime, InviteOptions, invite))
  dangerous(staff.command('role'))
    .description("change a staff member's role; the last OWNER stays one")
    .argument('<who>', WHO)
    .argument('<role>', PlatformRole.options.join(', '))
    .requiredOption('--reason <text>', 'why; it stands in the audit trail')
    .addHelpText('after', '\nExamples:\n  svc staff role ada@pay.example OWNER --reason "leads the team now"\n')
    .action(action(runtime, RoleOptions, changeRole))
  dangerous(staff.command('remove'))
    .description('remove someone: the account, its sessions and its tokens; the last OWNER stays')
    .argument('<who>', WHO)
    .requiredOption('--reason <text>', 'why; it stands in the audit trail')
    .addHelpText('after', '\nExamples:\n  svc staff remove ada@pay.example --reason "has left"\n')
    .action(action(runtime, RemoveOptions, remove))
}

function addClients(staff: Command, runtime: Runtime): void {
  staff
    .command('clients')
    .description('list the programs that operate the platform')
    .addHelpText('after', '\nExamples:\n  svc staff clients\n')
    .action(action(runtime, z.object({}), clients))
  changing(staff.command('create-client'))
    .description('make a client for a program; its secret is printed this once')
    .addOption(roleOption().makeOptionMandatory())
    .requiredOption('--name <name>', 'what it is for')
    .requiredOption('--reason <text>', 'why; it stands in the audit trail')
    .addHelpText(
      'after',
      '\nExamples:\n  svc staff create-client --role OPS --name "nightly review" --reason "reviews at night"\n',
    )
    .action(action(runtime, CreateOptions, createClient))
  dangerous(staff.command('revoke-client'))
    .description('revoke a client: it gets no more tokens, and those it has are refused')
    .argument('<client-id>', 'as svc staff clients names it')
    .requiredOption('--reason <text>', 'why; it stands in the audit trail')
    .addHelpText('after', '\nExamples:\n  svc staff revoke-client platform-key-4f7a1c9e --reason "unused"\n')
    .action(action(runtime, RevokeOptions, revokeClient))
}

function addKeys(staff: Command, runtime: Runtime): void {
  dangerous(staff.command('rotate-keys'))
    .description("sign a realm's tokens with a new key from now on; those of before are taken until they expire")
    .requiredOption('--realm <realm>', "platform, customers, or a merchant's")
    .requiredOption('--reason <text>', 'why; it stands in the audit trail')
    .addHelpText('after', '\nExamples:\n  svc staff rotate-keys --realm acme-ltd --reason "a backup was lost"\n')
    .action(action(runtime, RotateOptions, rotateKeys))
}

function roleOption(): Option {
  return new Option('--role <role>', 'what it may do').choices(PlatformRole.options)
}
