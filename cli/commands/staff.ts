import { Option } from 'commander'
import type { Command } from 'commander'
import { z } from 'zod'
import { PlatformRole } from '../../src/wire/staff.ts'
import { ChangeOptions, changing, dangerous } from '../change.ts'
import { action } from '../context.ts'
import type { Runtime } from '../context.ts'
import { CreateOptions, clients, createClient, revokeClient } from './staff/clients.ts'
import { AddOptions, RoleOptions, add, changeRole, list, remove } from './staff/people.ts'

const WHO = 'the e-mail address, the id, or its last 8 characters or more'

/** `svc staff`: who operates the platform, people and programs. */
export function addStaffCommands(program: Command, runtime: Runtime): void {
  const staff = program
    .command('staff')
    .helpCommand(false)
    .description("manage the platform's staff, and the clients of its automation")
  addPeople(staff, runtime)
  addClients(staff, runtime)
}

function addPeople(staff: Command, runtime: Runtime): void {
  staff
    .command('list')
    .description("list the platform's staff")
    .addHelpText('after', '\nExamples:\n  svc staff list\n')
    .action(action(runtime, z.object({}), list))
  changing(staff.command('add'))
    .description('invite someone by e-mail; an invitation that was not taken is sent again')
    .requiredOption('--email <address>', 'what the person will sign in with')
    .addOption(roleOption().makeOptionMandatory())
    .option('--name <name>', 'as the audit trail shows it')
    .option('--reason <text>', 'why; it stands in the audit trail')
    .addHelpText('after', '\nExamples:\n  svc staff add --email ada@pay.example --role OPS --name "Ada Lovelace"\n')
    .action(action(runtime, AddOptions, add))
  changing(staff.command('role'))
    .description("change a staff member's role; the last OWNER stays one")
    .argument('<who>', WHO)
    .argument('<role>', PlatformRole.options.join(', '))
    .option('--reason <text>', 'why; it stands in the audit trail')
    .addHelpText('after', '\nExamples:\n  svc staff role ada@pay.example OWNER\n')
    .action(action(runtime, RoleOptions, changeRole))
  dangerous(staff.command('remove'))
    .description('remove someone: the account, its sessions and its tokens; the last OWNER stays')
    .argument('<who>', WHO)
    .addHelpText('after', '\nExamples:\n  svc staff remove ada@pay.example\n')
    .action(action(runtime, ChangeOptions, remove))
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
    .option('--reason <text>', 'why; it stands in the audit trail')
    .addHelpText('after', '\nExamples:\n  svc staff create-client --role OPS --name "nightly review"\n')
    .action(action(runtime, CreateOptions, createClient))
  dangerous(staff.command('revoke-client'))
    .description('revoke a client: it gets no more tokens, and those it has are refused')
    .argument('<client-id>', 'as svc staff clients names it')
    .addHelpText('after', '\nExamples:\n  svc staff revoke-client platform-key-4f7a1c9e\n')
    .action(action(runtime, ChangeOptions, revokeClient))
}

function roleOption(): Option {
  return new Option('--role <role>', 'what it may do').choices(PlatformRole.options)
}
