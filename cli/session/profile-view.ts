import { configDirOf } from '../client/auth/config-dir.ts'
import { entryKey, readEntries } from '../client/auth/credentials-file.ts'
import type { Entry } from '../client/auth/credentials-file.ts'
import { DEV } from '../client/auth/profiles.ts'
import type { Profile } from '../client/auth/profiles.ts'
import { meantProfile } from './sign-out.ts'
import type { Context } from '../kit/context.ts'
import { CliError } from '../base/errors.ts'
import { runningState } from '../client/find-service.ts'
import type { RecordView } from '../output/output.ts'
import type { ServiceState } from '../client/service-state.ts'

/** A profile as it is printed. Nothing in it is secret. */
export type ProfileItem = Pick<
  Profile,
  'api_url' | 'auth_url' | 'realm' | 'client_id' | 'kind' | 'mode' | 'role' | 'subject'
> & {
  name: string
  /** Whether commands act as it when nothing else is said. */
  current: boolean
  /** `expired` where somebody has to sign in again, `no` where nobody has, `not needed` without an identity provider. */
  signed_in: SignedIn
  /** Who signed in: an e-mail address; null for a client, and where nobody has. */
  login: string | null
  /** Whom operators' commands act as, where that is a login of its own: of the running service. */
  operator: OperatorItem | null
  /** The bank's customer that svc ob acts as, the same way. */
  customer: OperatorItem | null
}

type SignedIn = 'yes' | 'expired' | 'no' | 'not needed'
type OperatorItem = Pick<Profile, 'realm' | 'client_id' | 'role'> & { login: string | null; signed_in: SignedIn }

/** A profile of the user's file. */
export function itemOf(context: Context, name: string, profile: Profile): ProfileItem {
  const { api_url, auth_url, realm, client_id, kind, mode, role, subject } = profile
  const entry = readEntries(configDirOf(context.io.env))[entryKey({ name, kind, stateDir: '' })]
  return {
    name,
    current: isCurrent(context, name),
    api_url,
    auth_url,
    realm,
    client_id,
    kind,
    mode,
    role,
    subject,
    login: loginNameOf(entry),
    signed_in: auth_url === null ? 'not needed' : signedIn(entry),
    operator: null,
    customer: null,
  }
}

/** The built-in profile, while its service runs. */
export function devItem(context: Context): ProfileItem | undefined {
  const state = runningState(context.stateDir)
  if (state === undefined) return undefined
  const entries = readEntries(configDirOf(context.io.env))
  const entryOf = (kind: Profile['kind']) => entries[entryKey({ name: DEV, kind, stateDir: state.state_dir })]
  const { api_url, auth_url, merchant, operator, customer } = state
  const hasProvider = auth_url !== null
  return {
    name: DEV,
    current: isCurrent(context, DEV),
    api_url,
    auth_url,
    kind: 'merchant',
    mode: 'sandbox',
    subject: null,
    ...loginOf(entryOf('merchant'), { realm: merchant.realm, client_id: merchant.client_id, role: 'ADMIN' }),
    ...(hasProvider ? {} : { realm: null, role: null, signed_in: 'not needed' as const }),
    operator: hasProvider && operator !== null ? loginOf(entryOf('platform'), operator) : null,
    customer: hasProvider ? customerOf(entryOf('customer'), customer) : null,
  }
}

function customerOf(entry: Entry | undefined, demo: ServiceState['customer']): OperatorItem | null {
  const { realm, client_id } = demo ?? {}
  if (typeof realm === 'string' && typeof client_id === 'string')
    return loginOf(entry, { realm, client_id, role: 'CUSTOMER' })
  return entry === undefined
    ? null
    : loginOf(entry, { realm: entry.realm, client_id: entry.client_id, role: 'CUSTOMER' })
}

/** Who signed in, else the demo client that the running service has written down. */
function loginOf(entry: Entry | undefined, demo: { realm: string; client_id: string; role: string }): OperatorItem {
  if (entry === undefined) {
    const { realm, client_id, role } = demo
    return { realm, client_id, role, login: null, signed_in: 'yes' }
  }
  const { realm, client_id } = entry
  const role = entry.type === 'session' ? (entry.role ?? null) : null
  return { realm, client_id, role, login: loginNameOf(entry), signed_in: signedIn(entry) }
}

function loginNameOf(entry: Entry | undefined): string | null {
  return entry?.type === 'session' ? (entry.name ?? null) : null
}

function signedIn(entry: Entry | undefined): ProfileItem['signed_in'] {
  if (entry === undefined || entry.type === 'pending') return 'no'
  if (entry.type === 'client' || entry.refresh_token !== null || entry.expires_at === null) return 'yes'
  return Date.parse(entry.expires_at) > Date.now() ? 'yes' : 'expired'
}

function isCurrent(context: Context, name: string): boolean {
  try {
    return meantProfile(context) === name
  } catch (error) {
    // What is chosen has been removed by hand: then it is none of these.
    if (error instanceof CliError) return false
    throw error
  }
}

export function viewOf(context: Context, name: string, profile: Profile): RecordView<ProfileItem> {
  return recordOf(itemOf(context, name, profile))
}

export function recordOf(item: ProfileItem): RecordView<ProfileItem> {
  return {
    item,
    id: item.name,
    lines: [
      ['Profile', item.current ? `${item.name} (current)` : item.name],
      ['Service', item.api_url],
      ['Mode', item.mode],
      ['Realm', item.auth_url === null ? realmText(item) : (item.realm ?? '')],
      ['Client', item.client_id ?? ''],
      ['Kind', item.kind],
      ['Role', item.role ?? ''],
      ['Signed in', item.login === null ? item.signed_in : `${item.signed_in}, ${item.login}`],
      ['Operator', operatorText(item.operator)],
      ['Customer', operatorText(item.customer)],
    ],
  }
}

function operatorText(operator: OperatorItem | null): string {
  if (operator === null) return ''
  const { realm, client_id, role, login, signed_in } = operator
  const who = login ?? `client ${client_id ?? ''}`
  return `${who}, realm ${realm ?? ''}, ${role ?? 'role not known'}; signed in: ${signed_in}`
}

/** Of the merchant, and of the operator where there is one: what a table has a column for. */
export function realmText({ auth_url, realm, operator }: ProfileItem): string {
  return auth_url === null ? 'no identity provider' : both(realm, operator?.realm)
}

export function roleText({ role, operator }: ProfileItem): string {
  return both(role, operator?.role)
}

export function signedInText({ signed_in, operator }: ProfileItem): string {
  return signed_in === operator?.signed_in ? signed_in : both(signed_in, operator?.signed_in)
}

/** The bank's customer that svc ob acts as, where one has signed in, or a name is enough. */
export function customerText({ kind, customer, login, subject }: ProfileItem): string {
  return (kind === 'customer' ? (login ?? subject) : customer?.login) ?? ''
}

function both(merchant: string | null, operator: string | null | undefined): string {
  return operator === undefined ? (merchant ?? '') : `${merchant ?? '?'} and ${operator ?? '?'}`
}
