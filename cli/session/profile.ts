import { clientIdsOf, realmOfClientId } from '../../src/lib/realms.ts'
import type { ServiceInfo } from '../../src/wire/service.ts'
import { usageError, CliError } from '../base/errors.ts'
import { configDirOf } from '../client/auth/config-dir.ts'
import { entryKey, updateEntries } from '../client/auth/credentials-file.ts'
import { DEV, checkedName, chooseProfile, readUserConfig, removeProfile, saveProfile } from '../client/auth/profiles.ts'
import type { Profile } from '../client/auth/profiles.ts'
import { discover } from '../client/auth/service-info.ts'
import { notRunning, unknownProfile, findService } from '../client/find-service.ts'
import { command, argument } from '../kit/command.ts'
import type { Context } from '../kit/context.ts'
import { kindOfRealm } from './login-flow.ts'
import { meantProfile, signOut } from './logout.ts'
import { devItem, itemOf, realmText, printProfile, ProfileItem } from './profile-view.ts'

const list = command({
  command: 'profile list',
  summary: 'List profiles',
  examples: ['svc profile list'],
  flags: {},
  async run(context) {
    const { profiles } = readUserConfig(configDirOf(context.io.env))
    const dev = devItem(context)
    const own = Object.entries(profiles).map(([name, profile]) => itemOf(context, name, profile))
    const items = dev === undefined ? own : [dev, ...own]
    context.print.list(items, {
      fields: ProfileItem,
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
  },
})

const use = command({
  command: 'profile use',
  summary: 'Switch to a profile',
  details: 'The profile dev is the running service of the state directory.',
  examples: ['svc profile use acme-ltd', 'svc profile use dev'],
  flags: { name: argument('name', 'Name of the profile') },
  async run(context, input) {
    const { name } = input
    const configDir = configDirOf(context.io.env)
    if (name !== DEV && readUserConfig(configDir).profiles[name] === undefined) throw unknownProfile(name, true)
    chooseProfile(configDir, name)
    context.print.record({ profile: name }, [['Profile', name]])
    if ((context.io.env['SVC_PROFILE'] ?? '') !== '') context.note('SVC_PROFILE is set, and goes before it.')
  },
})

const show = command({
  command: 'profile show',
  summary: 'Show a profile and its identity',
  examples: ['svc profile show', 'svc profile show acme-ltd -q api_url'],
  flags: { name: { value: 'name', summary: 'Name of the profile (the active one)', positional: true } },
  async run(context, input) {
    printProfile(context, findItem(context, input.name ?? meantProfile(context)))
  },
})

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

const remove = command({
  command: 'profile remove',
  summary: 'Sign out of a profile and delete it',
  examples: ['svc profile remove acme-ltd'],
  flags: { name: argument('name', 'Name of the profile') },
  async run(context, input) {
    const { name } = input
    const configDir = configDirOf(context.io.env)
    if (name === DEV) throw usageError(`${DEV} is the running service of the state directory`, 'svc logout\nsvc down')
    if (readUserConfig(configDir).profiles[name] === undefined) throw unknownProfile(name, true)
    await signOut(context, name)
    removeProfile(configDir, name)
    context.print.record({ profile: name, removed: true }, [['Removed', name]])
  },
})

/** `svc profile create`: asks the service what it is, so that a wrong address is noticed now. */
const create = command({
  command: 'profile create',
  summary: 'Create a profile for the service of --api-url',
  examples: [
    'svc profile create acme --api-url https://pay.example --realm acme-ltd',
    'svc profile create ops --api-url https://pay.example --platform',
    'svc profile create grace --api-url https://pay.example --customer',
    'svc profile create ci --api-url https://pay.example --client-id acme-ltd-server --with-secret < secret.txt',
  ],
  flags: {
    name: argument('name', 'Name of the profile'),
    realm: { value: 'realm', summary: "A merchant's realm", excludes: ['platform', 'customer'] },
    platform: { summary: "The platform's realm, for operators", excludes: ['customer'] },
    customer: {
      value: 'id',
      bare: true,
      summary: "The customers' realm; without an identity provider, the customer's id",
    },
    withSecret: { summary: 'Read the secret of --client-id from standard input, and store it' },
  },
  async run(context, input) {
    const { io, flags } = context
    const configDir = configDirOf(io.env)
    const name = checkedName(input.name)
    if (name === DEV || readUserConfig(configDir).profiles[name] !== undefined)
      throw new CliError('PROFILE_EXISTS', `there is a profile ${name} already`, {
        hint: `svc profile show ${name}`,
      })
    const { apiUrl } = findService({ flags, env: io.env, cwd: io.cwd })
    const service = await discover(context.http(), apiUrl)
    const profile = profileOf(service, { apiUrl, options: input, clientId: flags.clientId })
    if (input.withSecret) await keepSecret(context, { name, profile })
    saveProfile(configDir, name, { profile, choose: false })
    printProfile(context, itemOf(context, name, profile))
    context.note(
      profile.auth_url === null || input.withSecret
        ? `svc profile use ${name} to use it.`
        : `svc login --profile ${name} to sign in, svc profile use ${name} to use it.`,
    )
  },
})

type Creation = { realm: string | undefined; platform: boolean; customer: string | true | undefined }
type ProfileOptions = { apiUrl: string; options: Creation; clientId: string | undefined }

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

/** A name is enough without an identity provider, and no proof with one. */
function checkCustomer(customer: Creation['customer'], { auth_url }: ServiceInfo): void {
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

export const PROFILE = [list, use, create, show, remove]
