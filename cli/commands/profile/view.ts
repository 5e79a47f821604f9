import { configDirOf } from '../../auth/config-dir.ts'
import { entryKey, readEntries } from '../../auth/credentials-file.ts'
import type { Entry } from '../../auth/credentials-file.ts'
import { DEV } from '../../auth/profiles.ts'
import type { Profile } from '../../auth/profiles.ts'
import { meantProfile } from '../../auth/sign-out.ts'
import type { Context } from '../../context.ts'
import { CliError } from '../../errors.ts'
import { runningState } from '../../find-service.ts'
import type { RecordView } from '../../output.ts'

/** A profile as it is printed. Nothing in it is secret. */
export type ProfileItem = Pick<
  Profile,
  'api_url' | 'auth_url' | 'realm' | 'client_id' | 'kind' | 'mode' | 'role' | 'subject'
> & {
  name: string
  /** Whether commands act as it when nothing else is said. */
  current: boolean
  /** `expired` where somebody has to sign in again, `no` where nobody has. */
  signed_in: 'yes' | 'expired' | 'no'
}

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
    signed_in: auth_url === null ? 'yes' : signedIn(entry),
  }
}

/** The built-in profile, while its service runs. */
export function devItem(context: Context): ProfileItem | undefined {
  const state = runningState(context.stateDir)
  if (state === undefined) return undefined
  const entries = readEntries(configDirOf(context.io.env))
  const session = entries[entryKey({ name: DEV, kind: 'merchant', stateDir: state.state_dir })]
  return {
    name: DEV,
    current: isCurrent(context, DEV),
    api_url: state.api_url,
    auth_url: state.auth_url,
    realm: session?.realm ?? state.merchant.realm,
    client_id: session?.client_id ?? state.merchant.client_id,
    kind: 'merchant',
    mode: 'sandbox',
    role: session === undefined ? 'ADMIN' : null,
    subject: null,
    signed_in: session === undefined ? 'yes' : signedIn(session),
  }
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
      ['Realm', item.realm ?? ''],
      ['Client', item.client_id ?? ''],
      ['Kind', item.kind],
      ['Role', item.role ?? ''],
      ['Signed in', item.signed_in],
    ],
  }
}
