import { clientIdsOf, isSlug } from '../../src/lib/realms.ts'
import type { ServiceInfo } from '../../src/wire/service.ts'
import type { Context } from '../kit/context.ts'
import { usageError } from '../base/errors.ts'
import type { CliError } from '../base/errors.ts'
import { findService } from '../client/find-service.ts'
import type { FoundService } from '../client/find-service.ts'
import { configDirOf } from '../client/auth/config-dir.ts'
import { entryKey } from '../client/auth/credentials-file.ts'
import type { Http } from '../client/auth/credentials.ts'
import { DEV, checkedName, namedProfile, readUserConfig } from '../client/auth/profiles.ts'
import type { ProfileKind } from '../client/auth/profiles.ts'
import { discoverProvider } from '../client/auth/service-info.ts'

/** What somebody signs in to, and the profile that it is kept in. */
export type Target = {
  apiUrl: string
  authUrl: string
  mode: 'sandbox' | 'live'
  realm: string
  kind: ProfileKind
  /** The realm's client for the command line. */
  clientId: string
  profile: string
  /** Where credentials.json keeps it. */
  key: string
  /** Whether there was no such profile before. */
  isNew: boolean
}

export type TargetOptions = {
  realm?: string | undefined
  platform?: boolean | undefined
  customer?: boolean | undefined
}

/**
 * Finds out where to sign in: the realm that is asked for, or the profile's, the project's, the demo merchant's. A login
 * at the running service of the state directory belongs to its built-in profile, any other to one named like the realm,
 * unless --profile names it.
 */
export async function findTarget(context: Context, http: Http, options: TargetOptions): Promise<Target> {
  const { io, flags } = context
  const name = namedProfile({ flags, env: io.env })
  const known = readUserConfig(configDirOf(io.env)).profiles
  // A profile that is yet to be made can't say where the service is.
  const isToBeMade = name !== undefined && name !== DEV && known[name] === undefined
  const env = isToBeMade ? { ...io.env, SVC_PROFILE: '' } : io.env
  const found = findService({ flags: isToBeMade ? { ...flags, profile: undefined } : flags, env, cwd: io.cwd })
  const service = await discoverProvider(http, found.apiUrl)
  const authUrl = (io.env['SVC_AUTH_URL'] || service.auth_url).replace(/\/+$/, '')
  const realm = requestedRealm(options, service) ?? ownRealm(found, io.env)
  if (realm === undefined)
    throw usageError('which realm?', 'svc login --realm <realm>\nsvc login --platform\nsvc login --customer')
  if (!isSlug(realm)) throw usageError(`--realm: "${realm}" is no realm`, 'svc login --realm acme-ltd')
  const profile = name ?? nameFor(found, realm)
  if (profile === DEV && found.state === undefined) throw notDev(found.apiUrl)
  const kind = kindOfRealm(realm, service)
  refuseOther(known[profile], { profile, apiUrl: found.apiUrl })
  return {
    apiUrl: found.apiUrl,
    authUrl,
    mode: service.mode,
    realm,
    kind,
    clientId: clientIdsOf(realm).cli,
    profile,
    key: entryKey({ name: profile, kind, stateDir: found.state?.state_dir ?? '' }),
    isNew: profile !== DEV && known[profile] === undefined,
  }
}

function requestedRealm({ realm, platform, customer }: TargetOptions, service: ServiceInfo): string | undefined {
  if (platform === true) return service.platform_realm
  return customer === true ? service.customers_realm : realm
}

/** Whose realm it is, by the names that the service gives to those that are no merchant's. */
export function kindOfRealm(
  realm: string | null | undefined,
  service: Pick<ServiceInfo, 'platform_realm' | 'customers_realm'>,
): ProfileKind {
  if (realm === service.platform_realm) return 'platform'
  return realm === service.customers_realm ? 'customer' : 'merchant'
}

function ownRealm({ profile, projectRealm, state }: FoundService, env: NodeJS.ProcessEnv): string | undefined {
  return (env['SVC_REALM'] || undefined) ?? profile?.settings.realm ?? projectRealm ?? state?.merchant.realm
}

function nameFor({ profile, state }: FoundService, realm: string): string {
  if (profile?.settings.realm === realm) return profile.name
  return state === undefined ? realm : DEV
}

function notDev(apiUrl: string): CliError {
  return usageError(
    `the profile ${DEV} is the running service of the state directory, and not ${apiUrl}`,
    '--profile <name>',
  )
}

/** A profile keeps the service that it was made for: one of the same name elsewhere would silently replace it. */
function refuseOther(known: { api_url: string } | undefined, wish: { profile: string; apiUrl: string }): void {
  checkedName(wish.profile)
  if (known === undefined || known.api_url.replace(/\/+$/, '') === wish.apiUrl) return
  throw usageError(`the profile ${wish.profile} is of ${known.api_url}`, 'svc login --profile <another name>')
}
