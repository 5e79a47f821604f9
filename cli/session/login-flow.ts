import type { CommandResult, Context } from '../kit/context.ts'
import { CliError, usageError } from '../base/errors.ts'
import { printable } from '../base/text.ts'
import { browserCommand, openBrowser, loginByBrowser } from '../client/auth/login-browser.ts'
import { claimsOf, realmOfIssuer } from '../client/auth/token-source.ts'
import { configDirOf } from '../client/auth/config-dir.ts'
import { pendingKey, readEntries, updateEntries, entryKey } from '../client/auth/credentials-file.ts'
import type { Pending } from '../client/auth/credentials-file.ts'
import { pollDevice } from '../client/auth/login-device.ts'
import { checkRealm, startDevice } from '../client/auth/oidc.ts'
import type { DeviceStart, Tokens } from '../client/auth/oidc.ts'
import { namedProfile, DEV, checkedName, readUserConfig } from '../client/auth/profiles.ts'
import type { ProfileKind } from '../client/auth/profiles.ts'
import { sessionOf } from '../client/auth/session-source.ts'
import { completeSignIn } from './sign-in.ts'
import { clientIdsOf, isSlug } from '../../src/lib/realms.ts'
import type { ServiceInfo } from '../../src/wire/service.ts'
import { findService } from '../client/find-service.ts'
import type { FoundService } from '../client/find-service.ts'
import type { Http } from '../client/auth/credentials.ts'
import { discoverProvider } from '../client/auth/service-info.ts'

/** Signs in with a browser here, or with a code on another device where there is none or it is asked for. */
export async function signIn(
  context: Context,
  target: Target,
  { device, secondFactor, timeoutMs }: { device: boolean; secondFactor: boolean; timeoutMs: number },
): Promise<CommandResult> {
  const { io } = context
  const hasBrowser = browserCommand(io.env, process.platform, 'about:blank') !== undefined
  const tokens =
    device || !hasBrowser || !io.stderr.isTTY
      ? await byDevice(context, target, { secondFactor, timeoutMs })
      : await byBrowser(context, target, { secondFactor, timeoutMs })
  await completeSignIn(context, target, sessionOf(ownerOf(target), tokens))
}

function ownerOf({ apiUrl, authUrl, realm, clientId }: Target) {
  return { api_url: apiUrl, auth_url: authUrl, realm, client_id: clientId }
}

type Ask = { secondFactor: boolean; timeoutMs: number }

async function byBrowser(context: Context, target: Target, { secondFactor, timeoutMs }: Ask): Promise<Tokens> {
  const { io } = context
  await checkRealm(context.http(), target)
  return loginByBrowser(context.http(), target, {
    clientId: target.clientId,
    secondFactor,
    timeoutMs,
    async show(url) {
      const command = browserCommand(io.env, process.platform, url)
      const isOpen = command !== undefined && (await openBrowser(command))
      ask(context, isOpen ? 'Your browser opens this page to sign in:' : 'Open this page to sign in:', url)
    },
  })
}

async function byDevice(context: Context, target: Target, { secondFactor, timeoutMs }: Ask): Promise<Tokens> {
  const started = await startDevice(context.http(), target, { clientId: target.clientId, secondFactor })
  const url = started.verification_uri_complete ?? started.verification_uri
  ask(context, `Open this page on any device, and confirm the code ${started.user_code}:`, url)
  return pollDevice(context.http(), target, {
    clientId: target.clientId,
    deviceCode: started.device_code,
    verifier: started.verifier,
    intervalSeconds: started.interval,
    expiresAt: Date.now() + Math.min(timeoutMs, started.expires_in * 1_000),
  })
}

/** What the user has to do; unlike a remark it is said in every form of output, for nothing goes on without it. */
function ask({ io }: Context, text: string, url: string): void {
  io.stderr.write(`${printable(text)}\n  ${printable(url)}\n`)
}

const TOKEN_BYTES_MAX = 64 * 1024

export async function takeToken(context: Context, target: Target): Promise<CommandResult> {
  const { io } = context
  if (io.stdin.isTTY) throw usageError('--with-token reads standard input', 'svc login --with-token < token.txt')
  const token = (await io.stdin.read(TOKEN_BYTES_MAX)).toString('utf8').trim()
  const claims = claimsOf(token)
  if (claims === undefined) throw usageError('standard input holds no access token', 'svc profile token prints one')
  const issuer = realmOfIssuer(claims.iss)
  if (issuer?.authUrl !== target.authUrl || issuer.realm !== target.realm)
    throw new CliError(
      'WRONG_REALM',
      `the token is of ${printable(claims.iss ?? 'no issuer')}, and not of realm ${target.realm}`,
      {
        hint: 'svc login --realm <realm> --with-token',
      },
    )
  await completeSignIn(context, target, {
    ...ownerOf(target),
    type: 'session',
    client_id: claims.azp ?? target.clientId,
    access_token: token,
    expires_at: claims.exp === undefined ? null : new Date(claims.exp * 1_000).toISOString(),
    refresh_token: null,
  })
}

/** The first half of a login for programs: says where the user has to go, and returns. */
export async function beginDevice(context: Context, target: Target, secondFactor: boolean): Promise<CommandResult> {
  const started = await startDevice(context.http(), target, { clientId: target.clientId, secondFactor })
  const pending = pendingOf(target, started)
  await updateEntries(configDirOf(context.io.env), async (entries) => ({
    ...entries,
    [pendingKey(target.key)]: pending,
  }))
  const item = {
    verification_uri: started.verification_uri,
    verification_uri_complete: started.verification_uri_complete ?? started.verification_uri,
    user_code: started.user_code,
    expires_in: started.expires_in,
    next_step: `${context.io.calledAs} login --complete --profile ${target.profile}`,
  }
  // Who asks for this form wants JSON, whatever the terminal is.
  if (!context.print.isMachine) context.io.stdout.write(`${JSON.stringify(item)}\n`)
  else context.print.record(item, [], { id: item.user_code })
}

function pendingOf(target: Target, started: DeviceStart & { verifier: string }): Pending {
  return {
    ...ownerOf(target),
    type: 'pending',
    target,
    device_code: started.device_code,
    verifier: started.verifier,
    interval: started.interval,
    expires_at: new Date(Date.now() + started.expires_in * 1_000).toISOString(),
  }
}

export async function completeDevice(context: Context, timeoutMs: number): Promise<CommandResult> {
  const pending = pendingLogin(context)
  const { target } = pending
  const tokens = await pollDevice(context.http(), target, {
    clientId: target.clientId,
    deviceCode: pending.device_code,
    verifier: pending.verifier,
    intervalSeconds: pending.interval,
    expiresAt: Math.min(Date.now() + timeoutMs, Date.parse(pending.expires_at)),
  })
  await completeSignIn(context, target, sessionOf(ownerOf(target), tokens))
}

/** The login that waits: of the profile that is named, or the only one. */
function pendingLogin({ io, flags }: Context): Pending {
  const profile = namedProfile({ flags, env: io.env })
  const waiting = Object.values(readEntries(configDirOf(io.env))).filter((entry) => entry.type === 'pending')
  const [first, ...others] = waiting.filter(
    ({ target, expires_at }) =>
      (profile === undefined || target.profile === profile) && Date.parse(expires_at) > Date.now(),
  )
  if (first === undefined)
    throw new CliError('NO_LOGIN_PENDING', 'no login waits for its user', {
      hint: 'svc login --non-interactive begins one',
    })
  if (others.length > 0) throw usageError('more than one login waits', 'svc login --complete --profile <name>')
  return first
}

export type Target = {
  apiUrl: string
  authUrl: string
  mode: 'sandbox' | 'live'
  realm: string
  kind: ProfileKind
  /** The realm's client for the command line. */
  clientId: string
  profile: string
  key: string
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
  if (!isSlug(realm))
    throw usageError(
      `--realm: invalid realm "${realm}": use lower-case letters, digits and hyphens`,
      'svc login --realm acme-ltd',
    )
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

function ownRealm({ profile, state }: FoundService, env: NodeJS.ProcessEnv): string | undefined {
  return (env['SVC_REALM'] || undefined) ?? profile?.settings.realm ?? state?.merchant.realm
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
function refuseOther(known: { api_url: string } | undefined, target: { profile: string; apiUrl: string }): void {
  checkedName(target.profile)
  if (known === undefined || known.api_url.replace(/\/+$/, '') === target.apiUrl) return
  throw usageError(`the profile ${target.profile} is of ${known.api_url}`, 'svc login --profile <another name>')
}
