import { configDirOf } from '../client/auth/config-dir.ts'
import { DEV, chooseProfile, readUserConfig, removeProfile } from '../client/auth/profiles.ts'
import { meantProfile, signOut } from './sign-out.ts'
import type { CommandInput, CommandResult, Context } from '../kit/context.ts'
import { usageError } from '../base/errors.ts'
import { notRunning, unknownProfile } from '../client/find-service.ts'
import { customerText, devItem, itemOf, realmText, recordOf, roleText, signedInText } from './profile-view.ts'
import type { ProfileItem } from './profile-view.ts'

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
  'operator',
  'customer',
] as const

/** `svc profile list`: the built-in one first, while its service runs. */
export async function list(context: Context, _input: CommandInput<object>): Promise<CommandResult> {
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
      { title: 'role', value: roleText },
      { title: 'signed in', value: signedInText },
      ...(items.some((item) => customerText(item) !== '') ? [CUSTOMER] : []),
    ],
    id: (item) => item.name,
    empty: 'There are no profiles. svc login makes one; svc up starts a service that needs none.',
  })
  return undefined
}

const CUSTOMER = { title: 'customer', value: customerText, below: true }

/** `svc profile use`. */
export async function use(context: Context, { args }: CommandInput<object>): Promise<CommandResult> {
  const [name = ''] = args
  const configDir = configDirOf(context.io.env)
  if (name !== DEV && readUserConfig(configDir).profiles[name] === undefined) throw unknownProfile(name, true)
  chooseProfile(configDir, name)
  context.print.record({ item: { profile: name }, id: name, lines: [['Profile', name]] })
  if ((context.io.env['SVC_PROFILE'] ?? '') !== '') context.note('SVC_PROFILE is set, and goes before it.')
  return undefined
}

/** `svc profile show`. */
export async function show(context: Context, { args }: CommandInput<object>): Promise<CommandResult> {
  context.print.record(recordOf(findItem(context, args[0] ?? meantProfile(context))))
  return undefined
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

/** `svc profile remove`: ends its session as well. */
export async function remove(context: Context, { args }: CommandInput<object>): Promise<CommandResult> {
  const [name = ''] = args
  const configDir = configDirOf(context.io.env)
  if (name === DEV) throw usageError(`${DEV} is the running service of the state directory`, 'svc logout\nsvc down')
  if (readUserConfig(configDir).profiles[name] === undefined) throw unknownProfile(name, true)
  await signOut(context, name)
  removeProfile(configDir, name)
  context.print.record({ item: { profile: name, removed: true }, id: name, lines: [['Removed', name]] })
  return undefined
}
