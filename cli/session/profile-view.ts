import { z } from 'zod'
import { configDirOf } from '../client/auth/config-dir.ts'
import { entryKey, readEntries } from '../client/auth/credentials-file.ts'
import type { Entry } from '../client/auth/credentials-file.ts'
import { DEV, Profile } from '../client/auth/profiles.ts'
import { meantProfile } from './logout.ts'
import type { Context } from '../kit/context.ts'
import { CliError } from '../base/errors.ts'
import { runningState } from '../client/find-service.ts'
import type { RecordLines } from '../output/output.ts'

const SignedIn = z.enum(['yes', 'expired', 'no', 'not needed'])
type SignedIn = z.infer<typeof SignedIn>

export const ProfileItem = z.object({
  name: z.string(),
  /** Whether commands act as it when nothing else is said. */
  current: z.boolean(),
  ...Profile.shape,
  /** `expired` where a new sign-in is needed, `no` where there was none, `not needed` without an identity provider. */
  signed_in: SignedIn,
  /** Who signed in: an e-mail address; null for a client, and without a sign-in. */
  login: z.string().nullable(),
})
export type ProfileItem = z.infer<typeof ProfileItem>

/** Without what a newer version has written beside them. */
const Settings = z.object(Profile.shape)

export function itemOf(context: Context, name: string, profile: Profile): ProfileItem {
  const { kind, auth_url } = profile
  const entry = readEntries(configDirOf(context.io.env))[entryKey({ name, kind, stateDir: '' })]
  return {
    name,
    current: isCurrent(context, name),
    ...Settings.parse(profile),
    login: loginNameOf(entry),
    signed_in: auth_url === null ? 'not needed' : signedIn(entry),
  }
}

/** The built-in profile, while its service runs: its merchant; svc whoami shows operator and customer. */
export function devItem(context: Context): ProfileItem | undefined {
  const state = runningState(context.stateDir)
  if (state === undefined) return undefined
  const { api_url, auth_url, merchant, state_dir: stateDir } = state
  const entry = readEntries(configDirOf(context.io.env))[entryKey({ name: DEV, kind: 'merchant', stateDir })]
  const signedInAs = entry?.type === 'session' ? (entry.role ?? null) : null
  const hasProvider = auth_url !== null
  return {
    name: DEV,
    current: isCurrent(context, DEV),
    api_url,
    auth_url,
    realm: hasProvider ? (entry?.realm ?? merchant.realm) : null,
    client_id: entry?.client_id ?? merchant.client_id,
    kind: 'merchant',
    mode: 'sandbox',
    role: hasProvider ? (entry === undefined ? 'ADMIN' : signedInAs) : null,
    subject: null,
    // The demo client of svc.json proves itself without a sign-in.
    signed_in: hasProvider ? (entry === undefined ? 'yes' : signedIn(entry)) : 'not needed',
    login: loginNameOf(entry),
  }
}

function loginNameOf(entry: Entry | undefined): string | null {
  return entry?.type === 'session' ? (entry.name ?? null) : null
}

function signedIn(entry: Entry | undefined): SignedIn {
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

export function printProfile({ print }: Context, item: ProfileItem): void {
  const lines: RecordLines = [
    ['Profile', item.current ? `${item.name} (current)` : item.name],
    ['Service', item.api_url],
    ['Mode', item.mode],
    ['Realm', realmText(item)],
    ['Client', item.client_id ?? ''],
    ['Kind', item.kind],
    ['Role', item.role ?? ''],
    ['Signed in', item.login === null ? item.signed_in : `${item.signed_in}, ${item.login}`],
  ]
  print.record(item, lines, { id: item.name })
}

export function realmText({ auth_url: authUrl, realm }: ProfileItem): string {
  return authUrl === null ? 'no identity provider' : (realm ?? '')
}
