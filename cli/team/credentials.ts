import { Option } from 'commander'
import type { Command } from 'commander'
import { z } from 'zod'
import { MerchantRole } from '../../src/wire/team.ts'
import { ChangeOptions, changing, dangerous } from '../kit/change.ts'
import { action } from '../kit/context.ts'
import type { Runtime } from '../kit/context.ts'
import { CreateOptions, create, list, revoke, rotate } from './credentials-change.ts'

/** `svc credentials`: the clients of the merchant's own programs. */
export function addCredentials(credentials: Command, runtime: Runtime): void {
  credentials.addHelpText('after', '\nExamples:\n  svc credentials create --name "web shop"\n')
  credentials
    .command('list')
    .description('list the clients; their secrets are not shown again')
    .addHelpText('after', '\nExamples:\n  svc credentials list\n')
    .action(action(runtime, z.object({}), list))
  changing(credentials.command('create'))
    .description('make a client for a program; its secret is printed this once')
    .requiredOption('--name <name>', 'what it is for')
    .addOption(new Option('--role <role>', 'what it may do (payments only)').choices(MerchantRole.options))
    .addHelpText(
      'after',
      '\nExamples:\n  svc credentials create --name "web shop"\n  svc credentials create --name ci --role DEVELOPER --json\n',
    )
    .action(action(runtime, CreateOptions, create))
  dangerous(credentials.command('rotate'))
    .description("replace a client's secret: the old one is refused from now on, the new one is printed this once")
    .argument('<client-id>', 'as svc credentials list names it')
    .addHelpText('after', '\nExamples:\n  svc credentials rotate acme-ltd-server\n')
    .action(action(runtime, ChangeOptions, rotate))
  dangerous(credentials.command('revoke'))
    .description('revoke a client: it gets no more tokens, and those it has are refused')
    .argument('<client-id>', 'as svc credentials list names it')
    .addHelpText('after', '\nExamples:\n  svc credentials revoke acme-ltd-key-4f7a1c9e\n')
    .action(action(runtime, ChangeOptions, revoke))
}
