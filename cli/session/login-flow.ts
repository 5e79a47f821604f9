import type { CommandResult, Context } from '../kit/context.ts'
import { CliError, usageError } from '../base/errors.ts'
import { EXIT } from '../base/exit-codes.ts'
import { printable } from '../base/text.ts'
import { browserCommand, openBrowser, loginByBrowser } from '../client/auth/login-browser.ts'
import { claimsOf, realmOfIssuer } from '../client/auth/token-source.ts'
import { configDirOf } from '../client/auth/config-dir.ts'
import { pendingKey, readEntries, updateEntries } from '../client/auth/credentials-file.ts'
import type { Pending } from '../client/auth/credentials-file.ts'
import { pollDevice } from '../client/auth/login-device.ts'
import { checkRealm, startDevice } from '../client/auth/oidc.ts'
import type { DeviceStart, Tokens } from '../client/auth/oidc.ts'
import { namedProfile } from '../client/auth/profiles.ts'
import { sessionOf } from '../client/auth/session-source.ts'
import { completeSignIn } from './sign-in.ts'
import type { Target } from './login-target.ts'

/** Signs in with a browser here, or with a code on another device where there is none or it is asked for. */
export async function signIn(
  context: Context,
  target: Target,
  { device, timeoutMs }: { device: boolean; timeoutMs: number },
): Promise<CommandResult> {
  const { io } = context
  const hasBrowser = browserCommand(io.env, process.platform, 'about:blank') !== undefined
  const tokens =
    device || !hasBrowser || !io.stderr.isTTY
      ? await byDevice(context, target, timeoutMs)
      : await byBrowser(context, target, timeoutMs)
  await completeSignIn(context, target, sessionOf(ownerOf(target), tokens))
  return undefined
}

function ownerOf({ apiUrl, authUrl, realm, clientId }: Target) {
  return { api_url: apiUrl, auth_url: authUrl, realm, client_id: clientId }
}

async function byBrowser(context: Context, target: Target, timeoutMs: number): Promise<Tokens> {
  const { io } = context
  await checkRealm(context.http(), target)
  return loginByBrowser(context.http(), target, {
    clientId: target.clientId,
    timeoutMs,
    async show(url) {
      const command = browserCommand(io.env, process.platform, url)
      const isOpen = command !== undefined && (await openBrowser(command))
      ask(context, isOpen ? 'Your browser opens this page to sign in:' : 'Open this page to sign in:', url)
    },
  })
}

async function byDevice(context: Context, target: Target, timeoutMs: number): Promise<Tokens> {
  const started = await startDevice(context.http(), target, target.clientId)
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

/** Keeps an access token of standard input; nothing renews it. */
export async function takeToken(context: Context, target: Target): Promise<CommandResult> {
  const { io } = context
  if (io.stdin.isTTY) throw usageError('--with-token reads standard input', 'svc login --with-token < token.txt')
  const token = (await io.stdin.read(TOKEN_BYTES_MAX)).toString('utf8').trim()
  const claims = claimsOf(token)
  if (claims === undefined) throw usageError('standard input holds no access token', 'svc token prints one')
  const issuer = realmOfIssuer(claims.iss)
  if (issuer?.authUrl !== target.authUrl || issuer.realm !== target.realm)
    throw new CliError(
      'WRONG_REALM',
      `the token is of ${printable(claims.iss ?? 'nobody')}, and not of realm ${target.realm}`,
      {
        exit: EXIT.signedOut,
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
  return undefined
}

/** The first half of a login for programs: says where the user has to go, and returns. */
export async function beginDevice(context: Context, target: Target): Promise<CommandResult> {
  const started = await startDevice(context.http(), target, target.clientId)
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
  else context.print.record({ item, id: item.user_code, lines: [] })
  return undefined
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

/** The second half: waits for the user, and signs in. */
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
  return undefined
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
      exit: EXIT.signedOut,
      hint: 'svc login --non-interactive begins one',
    })
  if (others.length > 0) throw usageError('more than one login waits', 'svc login --complete --profile <name>')
  return first
}
