import type { Command } from 'commander'
import { z } from 'zod'
import { action } from '../kit/context.ts'
import type { Runtime } from '../kit/context.ts'
import { CreateOptions, create } from './profile-create.ts'
import { list, remove, show, use } from './profile-manage.ts'
import { DataOption } from '../kit/option-values.ts'

/** `svc profile`: who to act as, and where; what proves it comes by `svc login`. */
export function addProfile(profile: Command, runtime: Runtime): void {
  profile
    .command('list')
    .description('List profiles')
    .addHelpText('after', '\nExamples:\n  svc profile list\n')
    .action(action(runtime, z.object({}), list))
  profile
    .command('use')
    .description('Switch to a profile')
    .argument('<name>', 'Name of the profile')
    .addHelpText(
      'after',
      '\nThe profile dev is the running service of the state directory.\n\nExamples:\n  svc profile use acme-ltd\n  svc profile use dev\n',
    )
    .action(action(runtime, z.object({}), use))
  addCreate(profile, runtime)
  profile
    .command('show')
    .description('Show a profile and its identity')
    .argument('[name]', 'Name of the profile (the active one)')
    .addHelpText('after', '\nExamples:\n  svc profile show\n  svc profile show acme-ltd -q api_url\n')
    .action(action(runtime, z.object({}), show))
  profile
    .command('remove')
    .description('Sign out of a profile and delete it')
    .argument('<name>', 'Name of the profile')
    .addHelpText('after', '\nExamples:\n  svc profile remove acme-ltd\n')
    .action(action(runtime, z.object({}), remove))
}

function addCreate(profile: Command, runtime: Runtime): void {
  profile
    .command('create')
    .description('Create a profile for the service of --api-url')
    .argument('<name>', 'Name of the profile')
    .addOption(new DataOption('--realm <realm>', "A merchant's realm").conflicts(['platform', 'customer']))
    .addOption(new DataOption('--platform', "The platform's realm, for operators").conflicts('customer'))
    .option('--customer [id]', "The customers' realm; without an identity provider, the customer's id")
    .option('--with-secret', 'Read the secret of --client-id from standard input, and store it')
    .addHelpText('after', CREATE_EXAMPLES)
    .action(action(runtime, CreateOptions, create))
}

const CREATE_EXAMPLES = `
Examples:
  svc profile create acme --api-url https://pay.example --realm acme-ltd
  svc profile create ops --api-url https://pay.example --platform
  svc profile create grace --api-url https://pay.example --customer
  svc profile create ci --api-url https://pay.example --client-id acme-ltd-server --with-secret < secret.txt
`
