import { CliError, usageError } from '../base/errors.ts'
import { configDirOf } from '../client/auth/config-dir.ts'
import { entryKey, pendingKey, readEntries, updateEntries } from '../client/auth/credentials-file.ts'
import type { Entry } from '../client/auth/credentials-file.ts'
import { DEV, ProfileKind, namedProfile, readUserConfig } from '../client/auth/profiles.ts'
import { unknownProfile } from '../client/find-service.ts'
import { readServiceState } from '../client/service-state.ts'
import { command } from '../kit/command.ts'
import type { Context } from '../kit/context.ts'
import { revokeQuietly } from './sign-in.ts'

export const logout = command({
  command: 'logout',
  summary: 'Sign out',
  examples: ['svc logout', 'svc logout --customer', 'svc logout --profile acme-ltd'],
  flags: {
    platform: { summary: 'Sign out only the operator', excludes: ['customer'] },
    customer: { summary: "Sign out only the bank's customer of svc ob" },
  },
  async run(context, input) {
    const profile = meantProfile(context)
    const kind = onlyOf(input)
    if (kind !== undefined) refuseOtherKind(context, profile, kind)
    refuseClient(context, profile)
    const ended = await signOut(context, profile, kind)
    context.print.record(
      { profile, signed_out: ended.length > 0, revoked: ended.every((each) => each.isRevoked) },
      ended.map(({ realm }) => ['Signed out of', `${realm} (${profile})`] as const),
      { id: profile },
    )
    if (ended.length === 0)
      context.note(`No one was signed in to ${profile}${kind === undefined ? '' : ` as ${WHO[kind]}`}.`)
    if (ended.some((each) => !each.isRevoked))
      context.note('The identity provider was not reached: the session ends there when its time is over.')
  },
})

const WHO = { merchant: 'a merchant', platform: 'an operator', customer: 'a customer' } as const

/** Of the built-in profile, which keeps a session for each kind, the one that is meant; undefined for all of them. */
function onlyOf({ platform, customer }: { platform: boolean; customer: boolean }): ProfileKind | undefined {
  if (platform) return 'platform'
  return customer ? 'customer' : undefined
}

/** The profile that a command is about, by name: the same choice that commands act by, but no service has to run. */
export function meantProfile({ io, flags }: Context): string {
  const config = readUserConfig(configDirOf(io.env))
  const name = namedProfile({ flags, env: io.env }) ?? config.profile ?? DEV
  if (name !== DEV && config.profiles[name] === undefined) throw unknownProfile(name)
  return name
}

type Ended = { realm: string; isRevoked: boolean }

/**
 * Refuses to end what is no session: a client's secret is kept until its profile is removed.
 * @throws {CliError} NO_SESSION
 */
function refuseClient({ io }: Context, profile: string): void {
  const entry = readEntries(configDirOf(io.env))[profile]
  if (entry?.type !== 'client') return
  throw new CliError('NO_SESSION', `${profile} is a client with a secret: there is no session to end`, {
    hint: `svc profile remove ${profile} forgets it, and its secret with it`,
  })
}

/** Refuses to sign a profile out as what it is not. @throws {CliError} exit code 2 */
function refuseOtherKind({ io }: Context, profile: string, kind: ProfileKind): void {
  const known = readUserConfig(configDirOf(io.env)).profiles[profile]
  if (profile === DEV || known === undefined || known.kind === kind) return
  throw usageError(`--${kind}: the profile ${profile} is none of that kind`, 'the same command without it')
}

/**
 * Forgets what proves a profile, and ends its sessions at the provider where that can be reached.
 * @param kind whose session alone, of the built-in profile; all of them where it is not said
 */
export async function signOut(context: Context, profile: string, kind?: ProfileKind): Promise<Ended[]> {
  const configDir = configDirOf(context.io.env)
  // Its file has the directory's real path, whatever link leads here.
  const stateDir = readServiceState(context.stateDir)?.state_dir ?? context.stateDir
  const ofProfile = keysOf(profile, { kind, stateDir })
  const keys = new Set([...ofProfile, ...ofProfile.map(pendingKey)])
  let gone: Entry[] = []
  // Forgotten first: whatever happens at the provider, nothing here can use them any more.
  if (Object.keys(readEntries(configDir)).some((key) => keys.has(key)))
    await updateEntries(configDir, async (entries) => {
      gone = Object.entries(entries).flatMap(([key, entry]) => (keys.has(key) ? [entry] : []))
      return Object.fromEntries(Object.entries(entries).filter(([key]) => !keys.has(key)))
    })
  const ended = gone.filter((entry) => entry.type !== 'pending')
  return Promise.all(
    ended.map(async (entry) => ({
      realm: entry.realm,
      isRevoked: entry.type === 'client' || (await revokeQuietly(context.http(), entry)),
    })),
  )
}

/** The built-in profile can have an operator, a member of a merchant and a customer signed in. */
function keysOf(profile: string, { kind, stateDir }: { kind: ProfileKind | undefined; stateDir: string }): string[] {
  const kinds = profile === DEV && kind === undefined ? ProfileKind.options : [kind ?? 'merchant']
  return kinds.map((each) => entryKey({ name: profile, kind: each, stateDir }))
}
