import { realmOfClientId } from '../../../src/lib/realms.ts'
import { variableIn } from '../../base/environment-variables.ts'
import { CliError, usageError } from '../../base/errors.ts'
import type { FindOptions, FoundService } from '../find-service.ts'
import { claimsOf, realmOfIssuer, clientCredentialsSource, fixedSource } from './token-source.ts'
import { configDirOf } from './config-dir.ts'
import { headerCredentials, lazyCredentials, notSignedIn, serviceCredentials, tokenCredentials } from './credentials.ts'
import type { Credentials } from './credentials.ts'
import { entryKey, readEntries } from './credentials-file.ts'
import { kindsOf, otherKind } from './wrong-profile-kind.ts'
import { DEV } from './profiles.ts'
import type { ProfileKind } from './profiles.ts'
import { discover } from './service-info.ts'
import { sessionSource } from './session-source.ts'
import { isOnThisMachine } from '../../base/service-address.ts'
import type { ServiceClient, TokenSource } from './token-source.ts'

export type ChooseOptions = FindOptions & {
  found: FoundService
  platformUser: string
}

/**
 * Who a command acts as: --client-id, then --profile, then SVC_TOKEN, SVC_CLIENT_ID and SVC_PROFILE of the environment,
 * then the profile of the project's or the user's file, then the running service of the state directory. Nothing is asked
 * of the network before the first token is needed.
 */
export function chooseCredentials(options: ChooseOptions): Credentials {
  const { flags, env } = options
  if (flags.customer !== undefined && typeof knownAuthUrl(options) === 'string')
    throw usageError(
      '--customer names a customer where there is no identity provider; here customers sign in',
      'svc login --customer',
    )
  if (flags.clientId !== undefined)
    return { ...byClientId(options, flags.clientId), chosen: { by: '--client-id', name: flags.clientId } }
  if (flags.profile !== undefined) return byProfile(options)
  const token = variableIn(env, 'SVC_TOKEN')
  if (token !== undefined)
    return { ...byToken(options, token), chosen: { by: 'SVC_TOKEN', name: claimsOf(token)?.azp } }
  const clientId = env['SVC_CLIENT_ID'] ?? ''
  if (clientId === '') return byProfile(options)
  return { ...byClientId(options, clientId), chosen: { by: 'SVC_CLIENT_ID', name: clientId } }
}

function knownAuthUrl({ env, found }: Pick<ChooseOptions, 'env' | 'found'>): string | null | undefined {
  const named = env['SVC_AUTH_URL'] ?? ''
  if (named !== '') return named.replace(/\/+$/, '')
  if (found.profile !== undefined) return found.profile.settings.auth_url
  const url = found.state?.auth_url
  // A working folder may be anybody's: which other machine is the provider, the service itself says.
  return typeof url === 'string' && !isOnThisMachine(url) ? undefined : url
}

/** Builds credentials where the provider is; asks the service for it only where it is not known. */
function atProvider(
  options: ChooseOptions,
  merchant: Credentials['merchant'],
  build: (authUrl: string | null) => Credentials,
): Credentials {
  const known = knownAuthUrl(options)
  if (known !== undefined) return build(known)
  return lazyCredentials(merchant, async (http) => build((await discover(http, options.found.apiUrl)).auth_url))
}

/** One token for all it is asked for: the service says what it may not do. */
function byToken(options: ChooseOptions, accessToken: string): Credentials {
  const claims = claimsOf(accessToken)
  const expiresAt = claims?.exp === undefined ? null : claims.exp * 1_000
  const issuer = realmOfIssuer(claims?.iss)
  const source = fixedSource({ accessToken, expiresAt }, { realm: issuer?.realm, clientId: claims?.azp })
  const authUrl = knownAuthUrl(options) ?? issuer?.authUrl ?? options.found.apiUrl
  return tokenCredentials({ authUrl, merchant: source, platform: source, customer: source })
}

/** A client by its id: with its secret a token; its name alone where there is no provider, or none known of. */
function byClientId(options: ChooseOptions, clientId: string): Credentials {
  const { env, found } = options
  const known = clientsOf(found).find((client) => client.clientId === clientId)
  const clientSecret = variableIn(env, 'SVC_CLIENT_SECRET') ?? known?.clientSecret
  const realm = (env['SVC_REALM'] || undefined) ?? known?.realm ?? realmOfClientId(clientId)
  const names = namesOf(options, clientId)
  if (clientSecret === undefined) {
    if (typeof knownAuthUrl(options) === 'string') throw secretMissing(clientId)
    return names
  }
  return atProvider(options, { clientId, realm }, (authUrl) => {
    if (authUrl === null) return names
    if (realm === undefined) throw usageError(`${clientId} does not say which realm it is of`, 'SVC_REALM=<realm>')
    const client = { realm, clientId, clientSecret }
    return serviceCredentials({ authUrl, merchant: client, platform: client, customer: client })
  })
}

function clientsOf({ state }: FoundService): ServiceClient[] {
  if (state === undefined) return []
  return [state.merchant, state.operator, state.customer].flatMap((client) => {
    const { realm, client_id: clientId, client_secret: clientSecret } = client ?? {}
    return typeof realm === 'string' && typeof clientId === 'string' && typeof clientSecret === 'string'
      ? [{ realm, clientId, clientSecret }]
      : []
  })
}

/** What is believed without an identity provider; a profile that the command line names goes before the environment. */
function namesOf({ flags, env, found, platformUser }: ChooseOptions, clientId: string | undefined): Credentials {
  const { profile, state } = found
  const ofProfile = profile?.settings.kind === 'customer' ? (profile.settings.subject ?? undefined) : undefined
  const named = flags.profile === undefined ? undefined : ofProfile
  const ofEnvironment = env['SVC_CUSTOMER_ID'] || undefined
  const customerId = flags.customer ?? named ?? ofEnvironment ?? ofProfile ?? state?.customer?.id
  return headerCredentials({ clientId, platformUser, customerId })
}

function secretMissing(clientId: string): CliError {
  return new CliError('CLIENT_SECRET_MISSING', `${clientId} has to prove itself with its secret`, {
    hint: 'SVC_CLIENT_SECRET in the environment; people sign in with svc login',
  })
}

function byProfile(options: ChooseOptions): Credentials {
  const { found, env } = options
  if (found.profile === undefined) return byState(options)
  const { name, settings } = found.profile
  const { auth_url: authUrl, client_id, kind } = settings
  const chosen = { by: 'profile' as const, name }
  // A customer's profile is of no merchant.
  const clientId = kind === 'customer' ? undefined : (client_id ?? undefined)
  if (authUrl === null) return { ...namesOf(options, clientId), chosen }
  const key = entryKey({ name, kind, stateDir: '' })
  const source = sourceOf(configDirOf(env), { key, apiUrl: found.apiUrl })
  const credentials = tokenCredentials({
    authUrl,
    merchant: kind === 'merchant' ? source : undefined,
    platform: kind === 'platform' ? source : undefined,
    customer: kind === 'customer' ? source : undefined,
    refuse: (asked) =>
      !kindsOf(asked.access).includes(kind)
        ? otherKind({ name, settings }, { asked, configDir: configDirOf(env) })
        : notSignedIn(`svc login --profile ${name}`),
  })
  return { ...credentials, chosen }
}

/** The built-in profile: who signed in, else the demo merchant, the demo operator and the demo customer. */
function byState(options: ChooseOptions): Credentials {
  const { found, env } = options
  const { state, apiUrl } = found
  if (state === undefined) return namesOf(options, undefined)
  const chosen = { by: 'dev' as const, name: DEV }
  if (state.auth_url === null) return { ...namesOf(options, state.merchant.client_id), chosen }
  const authUrl = state.auth_url
  const clients = clientsOf(found)
  const sourceFor = (kind: ProfileKind, clientId: string | null | undefined): TokenSource | undefined => {
    const key = entryKey({ name: DEV, kind, stateDir: state.state_dir })
    const demo = clients.find((client) => client.clientId === clientId)
    return sourceOf(configDirOf(env), { key, apiUrl }) ?? (demo && clientCredentialsSource(authUrl, demo))
  }
  const credentials = tokenCredentials({
    authUrl,
    merchant: sourceFor('merchant', state.merchant.client_id),
    platform: sourceFor('platform', state.operator?.client_id),
    customer: sourceFor('customer', state.customer?.client_id),
  })
  return { ...credentials, chosen }
}

function sourceOf(configDir: string, { key, apiUrl }: { key: string; apiUrl: string }): TokenSource | undefined {
  const entry = readEntries(configDir)[key]
  if (entry === undefined || entry.api_url !== apiUrl) return undefined
  if (entry.type === 'session') return sessionSource(configDir, key, entry)
  if (entry.type !== 'client') return undefined
  const { auth_url, realm, client_id: clientId, client_secret: clientSecret } = entry
  return clientCredentialsSource(auth_url, { realm, clientId, clientSecret })
}
