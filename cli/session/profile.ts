import type { Command } from 'commander'
import { z } from 'zod'
import { usageError, CliError } from '../base/errors.ts'
import { configDirOf } from '../client/auth/config-dir.ts'
import { DEV, chooseProfile, readUserConfig, removeProfile, checkedName, saveProfile } from '../client/auth/profiles.ts'
import type { Profile } from '../client/auth/profiles.ts'
import { notRunning, unknownProfile, findService } from '../client/find-service.ts'
import { action } from '../kit/context.ts'
import type { CommandInput, CommandResult, Context, Runtime } from '../kit/context.ts'
import { devItem, itemOf, realmText, recordOf } from './profile-view.ts'
import type { ProfileItem } from './profile-view.ts'
import { meantProfile, signOut } from './logout.ts'
import { DataOption, subcommand } from '../kit/option-values.ts'
import { clientIdsOf, realmOfClientId } from '../../src/lib/realms.ts'
import type { ServiceInfo } from '../../src/wire/service.ts'
import { entryKey, updateEntries } from '../client/auth/credentials-file.ts'
import { discover } from '../client/auth/service-info.ts'
import { kindOfRealm } from './login-flow.ts'
import { EXIT } from '../base/exit-codes.ts'

const FIELDS = [
  'name',
  'current',
  'api_url',
  'auth_url',
  'realm',
  'client_id',
  'kind',
  'mode',
  'role',
  'subject',
  'signed_in',
  'login',
] as const

export function addProfile(profile: Command, runtime: Runtime): void {
  subcommand(profile, 'list', 'List profiles')
    .addHelpText('after', '\nExamples:\n  svc profile list\n')
    .action(action(runtime, z.object({}), list))
  subcommand(profile, 'use', 'Switch to a profile')
    .argument('<name>', 'Name of the profile')
    .addHelpText(
      'after',
      '\nThe profile dev is the running service of the state directory.\n\nExamples:\n  svc profile use acme-ltd\n  svc profile use dev\n',
    )
    .action(action(runtime, z.object({}), use))
  addCreate(profile, runtime)
  subcommand(profile, 'show', 'Show a profile and its identity')
    .argument('[name]', 'Name of the profile (the active one)')
    .addHelpText('after', '\nExamples:\n  svc profile show\n  svc profile show acme-ltd -q api_url\n')
    .action(action(runtime, z.object({}), show))
  subcommand(profile, 'remove', 'Sign out of a profile and delete it')
    .argument('<name>', 'Name of the profile')
    .addHelpText('after', '\nExamples:\n  svc profile remove acme-ltd\n')
    .action(action(runtime, z.object({}), remove))
}

function addCreate(profile: Command, runtime: Runtime): void {
  subcommand(profile, 'create', 'Create a profile for the service of --api-url')
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

async function list(context: Context): Promise<CommandResult> {
  const { profiles } = readUserConfig(configDirOf(context.io.env))
  const dev = devItem(context)
  const own = Object.entries(profiles).map(([name, profile]) => itemOf(context, name, profile))
  const items = dev === undefined ? own : [dev, ...own]
  context.print.list<ProfileItem>({
    items,
    fields: FIELDS,
    columns: [
      { title: '', value: (item) => (item.current ? '*' : '') },
      { title: 'name', value: (item) => item.name },
      { title: 'service', value: (item) => item.api_url },
      { title: 'mode', value: (item) => item.mode },
      { title: 'realm', value: realmText },
      { title: 'role', value: (item) => item.role ?? '' },
      { title: 'signed in', value: (item) => item.signed_in },
    ],
    id: (item) => item.name,
    empty: 'There are no profiles. svc login makes one; svc up starts a service that needs none.',
  })
}

async function use(context: Context, { args }: CommandInput<object>): Promise<CommandResult> {
  const [name = ''] = args
  const configDir = configDirOf(context.io.env)
  if (name !== DEV && readUserConfig(configDir).profiles[name] === undefined) throw unknownProfile(name, true)
  chooseProfile(configDir, name)
  context.print.record({ item: { profile: name }, id: name, lines: [['Profile', name]] })
  if ((context.io.env['SVC_PROFILE'] ?? '') !== '') context.note('SVC_PROFILE is set, and goes before it.')
}

async function show(context: Context, { args }: CommandInput<object>): Promise<CommandResult> {
  context.print.record(recordOf(findItem(context, args[0] ?? meantProfile(context))))
}

function findItem(context: Context, name: string): ProfileItem {
  if (name === DEV) {
    const dev = devItem(context)
    if (dev === undefined) throw notRunning(context.stateDir)
    return dev
  }
  const profile = readUserConfig(configDirOf(context.io.env)).profiles[name]
  if (profile === undefined) throw unknownProfile(name, true)
  return itemOf(context, name, profile)
}

async function remove(context: Context, { args }: CommandInput<object>): Promise<CommandResult> {
  const [name = ''] = args
  const configDir = configDirOf(context.io.env)
  if (name === DEV) throw usageError(`${DEV} is the running service of the state directory`, 'svc logout\nsvc down')
  if (readUserConfig(configDir).profiles[name] === undefined) throw unknownProfile(name, true)
  await signOut(context, name)
  removeProfile(configDir, name)
  context.print.record({ item: { profile: name, removed: true }, id: name, lines: [['Removed', name]] })
}

const CreateOptions = z.object({
  realm: z.string().optional(),
  platform: z.boolean().default(false),
  customer: z.union([z.literal(true), z.string()]).optional(),
  withSecret: z.boolean().default(false),
})
type CreateOptions = z.infer<typeof CreateOptions>

/** `svc profile create`: asks the service what it is, so that a wrong address is noticed now. */
async function create(context: Context, { args, options }: CommandInput<CreateOptions>): Promise<CommandResult> {
  const { io, flags } = context
  const configDir = configDirOf(io.env)
  const name = checkedName(args[0] ?? '')
  if (name === DEV || readUserConfig(configDir).profiles[name] !== undefined)
    throw new CliError('PROFILE_EXISTS', `there is a profile ${name} already`, {
      exit: EXIT.conflict,
      hint: `svc profile show ${name}`,
    })
  const { apiUrl } = findService({ flags, env: io.env, cwd: io.cwd })
  const service = await discover(context.http(), apiUrl)
  const profile = profileOf(service, { apiUrl, options, clientId: flags.clientId })
  if (options.withSecret) await keepSecret(context, { name, profile })
  saveProfile(configDir, name, { profile, choose: false })
  context.print.record(recordOf(itemOf(context, name, profile)))
  context.note(
    profile.auth_url === null || options.withSecret
      ? `svc profile use ${name} to act as it.`
      : `svc login --profile ${name} to sign in, svc profile use ${name} to act as it.`,
  )
}

type ProfileOptions = { apiUrl: string; options: CreateOptions; clientId: string | undefined }

function profileOf(service: ServiceInfo, { apiUrl, options, clientId }: ProfileOptions): Profile {
  const { customer } = options
  checkCustomer(customer, service)
  const named = customer === undefined ? options.realm : service.customers_realm
  const realm =
    (options.platform ? service.platform_realm : named) ??
    (clientId === undefined ? undefined : realmOfClientId(clientId))
  if (realm === undefined && service.auth_url !== null)
    throw usageError('which realm?', '--realm <realm>, --platform, or --customer')
  return {
    api_url: apiUrl,
    auth_url: service.auth_url,
    realm: realm ?? null,
    client_id: clientId ?? (realm === undefined ? null : clientIdsOf(realm).cli),
    kind: kindOfRealm(realm, service),
    mode: service.mode,
    role: null,
    subject: typeof customer === 'string' ? customer : null,
  }
}

/** A name is enough where nobody signs in, and no proof where somebody does. */
function checkCustomer(customer: CreateOptions['customer'], { auth_url }: ServiceInfo): void {
  if (customer === true && auth_url === null) throw usageError('which customer?', '--customer <id>')
  if (typeof customer === 'string' && auth_url !== null)
    throw usageError('--customer: customers sign in there, and have no name to give', '--customer, without an id')
}

const SECRET_BYTES_MAX = 1_024

async function keepSecret(context: Context, { name, profile }: { name: string; profile: Profile }): Promise<void> {
  const { io, flags } = context
  const { api_url, auth_url, realm, client_id, kind } = profile
  if (flags.clientId === undefined || auth_url === null || realm === null || client_id === null)
    throw usageError('--with-secret goes with the --client-id of a service that has an identity provider')
  const client_secret = (await io.stdin.read(SECRET_BYTES_MAX)).toString('utf8').trim()
  if (client_secret === '') throw usageError('--with-secret: standard input is empty')
  await updateEntries(configDirOf(io.env), async (entries) => ({
    ...entries,
    [entryKey({ name, kind, stateDir: '' })]: { type: 'client', api_url, auth_url, realm, client_id, client_secret },
  }))
}
