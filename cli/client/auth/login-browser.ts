import { randomBytes } from 'node:crypto'
import { issuerOf } from '../../../src/lib/realms.ts'
import { CliError } from '../../base/errors.ts'
import { EXIT } from '../../base/exit-codes.ts'
import type { Http } from './credentials.ts'
import { startLoopback } from './loopback.ts'
import type { Return } from './loopback.ts'
import { challengeOf, endpointOf, loginScope, requestTokens } from './oidc.ts'
import type { Realm, Tokens } from './oidc.ts'

export type BrowserLogin = {
  clientId: string
  timeoutMs: number
  /** Told where the user has to go; it opens the browser, and shows the address too. */
  show(url: string): Promise<void>
}

/**
 * Signs in with a browser on this machine: authorization code with PKCE S256, back to a port of the loopback address.
 * @throws {CliError} exit code 4 where the user or the provider refuses, 9 where nobody comes back in time
 */
export async function loginByBrowser(http: Http, realm: Realm, login: BrowserLogin): Promise<Tokens> {
  const state = randomBytes(32).toString('base64url')
  const verifier = randomBytes(32).toString('base64url')
  const loopback = await startLoopback({ state, issuer: issuerOf(realm.authUrl, realm.realm) })
  const { redirectUri } = loopback
  let isSignedIn = false
  try {
    await login.show(authorizationUrl(realm, { clientId: login.clientId, redirectUri, state, verifier }))
    const code = codeOf(await inTime(loopback.returned, login.timeoutMs))
    const tokens = await requestTokens(http, realm, {
      grant_type: 'authorization_code',
      client_id: login.clientId,
      code,
      redirect_uri: redirectUri,
      code_verifier: verifier,
    })
    isSignedIn = true
    return tokens
  } finally {
    loopback.finish(isSignedIn)
    await loopback.close()
  }
}

type Authorization = { clientId: string; redirectUri: string; state: string; verifier: string }

function authorizationUrl(realm: Realm, { clientId, redirectUri, state, verifier }: Authorization): string {
  const query = new URLSearchParams({
    response_type: 'code',
    client_id: clientId,
    redirect_uri: redirectUri,
    scope: loginScope(realm.realm),
    state,
    ...challengeOf(verifier),
  })
  return `${endpointOf(realm, 'auth')}?${query.toString()}`
}

function codeOf(back: Return): string {
  if ('code' in back) return back.code
  throw loginRefused(back.error)
}

/** The user said no, or the provider did. */
export function loginRefused(error: string): CliError {
  const isByUser = error === 'access_denied'
  return new CliError('LOGIN_REFUSED', isByUser ? 'the login was refused' : `the login was refused: ${error}`, {
    exit: EXIT.signedOut,
    hint: 'svc login to begin again',
  })
}

export function loginTimedOut(): CliError {
  return new CliError('LOGIN_TIMED_OUT', 'nobody signed in in time', {
    exit: EXIT.waitTimedOut,
    hint: 'to begin again: svc login\nwithout a browser here: svc login --device',
    retryable: true,
  })
}

async function inTime<T>(promise: Promise<T>, timeoutMs: number): Promise<T> {
  const { promise: late, reject } = Promise.withResolvers<never>()
  const timer = setTimeout(() => reject(loginTimedOut()), timeoutMs)
  try {
    return await Promise.race([promise, late])
  } finally {
    clearTimeout(timer)
  }
}
