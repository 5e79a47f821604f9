import { spawn } from 'node:child_process'
import { randomBytes, timingSafeEqual } from 'node:crypto'
import { once } from 'node:events'
import { createServer } from 'node:http'
import type { IncomingMessage, ServerResponse } from 'node:http'
import { issuerOf } from '../../../src/lib/realms.ts'
import { CliError } from '../../base/errors.ts'
import { inTime } from '../../base/times.ts'
import type { Http } from './credentials.ts'
import { challengeOf, endpointOf, loginScope, requestTokens, secondFactorOf } from './oidc.ts'
import type { Realm, Tokens } from './oidc.ts'

type BrowserLogin = {
  clientId: string
  /** Whether the sign-in must be new, with a second factor. */
  secondFactor: boolean
  timeoutMs: number
  /** Shows the user where to go, and opens the browser there. */
  show(url: string): Promise<void>
}

const AGAIN = 'svc login\nwithout a browser here: svc login --device'

/**
 * Signs in with a browser on this machine: authorization code with PKCE S256, back to a port of the loopback address.
 * @throws {CliError} exit code 4 where the user or the provider refuses, 9 where the user does not come back in time
 */
export async function loginByBrowser(http: Http, realm: Realm, login: BrowserLogin): Promise<Tokens> {
  const state = randomBytes(32).toString('base64url')
  const verifier = randomBytes(32).toString('base64url')
  const loopback = await startLoopback({ state, issuer: issuerOf(realm.authUrl, realm.realm) })
  const { redirectUri } = loopback
  let isSignedIn = false
  try {
    await login.show(authorizationUrl(realm, { ...login, redirectUri, state, verifier }))
    const code = codeOf(await inTime(loopback.returned, login.timeoutMs, () => loginTimedOut(AGAIN)))
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

type Authorization = { clientId: string; secondFactor: boolean; redirectUri: string; state: string; verifier: string }

function authorizationUrl(
  realm: Realm,
  { clientId, secondFactor, redirectUri, state, verifier }: Authorization,
): string {
  const query = new URLSearchParams({
    response_type: 'code',
    client_id: clientId,
    redirect_uri: redirectUri,
    scope: loginScope(realm.realm),
    state,
    ...challengeOf(verifier),
    ...secondFactorOf(secondFactor),
  })
  return `${endpointOf(realm, 'auth')}?${query.toString()}`
}

function codeOf(back: Return): string {
  if ('code' in back) return back.code
  throw loginRefused(back.error)
}

export function loginRefused(error: string): CliError {
  const isByUser = error === 'access_denied'
  return new CliError('LOGIN_REFUSED', isByUser ? 'the login was rejected' : `the login was rejected: ${error}`, {
    hint: 'svc login to begin again',
  })
}

/** @param again the same login, and where there is another way that one */
export function loginTimedOut(again: string): CliError {
  return new CliError('LOGIN_TIMED_OUT', 'the login was not completed in time', {
    hint: `to begin again: ${again}`,
    retryable: true,
  })
}

type Return = { code: string } | { error: string }

type Loopback = {
  redirectUri: string
  /** The first answer to this login; the browser waits until `finish` says how it ended. */
  returned: Promise<Return>
  finish(isSignedIn: boolean): void
  close(): Promise<void>
}

/**
 * Waits on a port of this machine for the browser to come back (RFC 8252). An answer that does not carry the state of
 * this login is none: it is refused, and the right one is waited for on, so that no other page can end a login.
 */
export async function startLoopback(login: { state: string; issuer: string }): Promise<Loopback> {
  const { promise: returned, resolve } = Promise.withResolvers<Return>()
  let waiting: ServerResponse | undefined
  const server = createServer((req, res) => {
    const answer = readReturn(req, login)
    if (answer === undefined) return page(res, 404, 'There is nothing here.')
    if (answer === 'foreign') return page(res, 400, 'This answer is not of the login in progress.')
    if (waiting !== undefined) return page(res, 409, 'This login has been answered. You can close this page.')
    waiting = res
    resolve(answer)
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  const address = server.address()
  const port = typeof address === 'object' ? address?.port : undefined
  return {
    redirectUri: `http://127.0.0.1:${port}/callback`,
    returned,
    finish(isSignedIn) {
      if (waiting === undefined) return
      if (isSignedIn) page(waiting, 200, 'You are signed in. You can close this page.')
      else page(waiting, 400, 'You are not signed in; the terminal says why. You can close this page.')
    },
    async close() {
      server.close()
      server.closeIdleConnections()
      if (waiting !== undefined && !waiting.closed) await lastWords(waiting)
      server.closeAllConnections()
    },
  }
}

const LAST_WORDS_MS = 1_000

/** The browser gets a moment to read how it ended. */
async function lastWords(res: ServerResponse): Promise<void> {
  try {
    await once(res, 'close', { signal: AbortSignal.timeout(LAST_WORDS_MS) })
  } catch {
    // It is gone, or does not read: the terminal says the same.
  }
}

/** Undefined for another page than the one waited for; `foreign` for an answer that is not this login's. */
function readReturn(
  { method, url }: IncomingMessage,
  login: { state: string; issuer: string },
): Return | 'foreign' | undefined {
  const { pathname, searchParams } = new URL(url ?? '/', 'http://127.0.0.1')
  if (method !== 'GET' || pathname !== '/callback') return undefined
  const issuer = searchParams.get('iss')
  if (!isSame(searchParams.get('state') ?? '', login.state)) return 'foreign'
  // RFC 9207: an answer of another provider than the one that was asked.
  if (issuer !== null && issuer !== login.issuer) return 'foreign'
  const code = searchParams.get('code')
  return code === null ? { error: searchParams.get('error') ?? 'invalid_response' } : { code }
}

function isSame(given: string, expected: string): boolean {
  const [left, right] = [Buffer.from(given), Buffer.from(expected)]
  return left.length === right.length && timingSafeEqual(left, right)
}

/** The page's address carries the code, so it is neither stored nor passed on. */
function page(res: ServerResponse, status: number, text: string): void {
  res
    .writeHead(status, {
      'content-type': 'text/html; charset=utf-8',
      'content-security-policy': "default-src 'none'; img-src data:",
      'referrer-policy': 'no-referrer',
      'cache-control': 'no-store',
      connection: 'close',
    })
    .end(`<!doctype html><html lang="en"><link rel="icon" href="data:,"><title>svc</title><p>${text}</p></html>\n`)
}

type Command = [file: string, ...args: string[]]

/**
 * The command that opens an address in this user's browser: $BROWSER, else what the system has. Undefined where none
 * could be looked at: no display, a shell on another machine, or --no-input.
 */
export function browserCommand(env: NodeJS.ProcessEnv, platform: NodeJS.Platform, url: string): Command | undefined {
  if ((env['SVC_NO_INPUT'] ?? '') !== '') return undefined
  const own = env['BROWSER']?.trim() ?? ''
  if (own !== '') return withUrl(own.split(/\s+/), url)
  if ((env['SSH_CONNECTION'] ?? '') !== '') return undefined
  if (platform === 'darwin') return ['open', url]
  // `start` is a word of cmd.exe, which would read the address's ampersands as its own.
  if (platform === 'win32') return ['rundll32', 'url.dll,FileProtocolHandler', url]
  const hasDisplay = (env['DISPLAY'] ?? '') !== '' || (env['WAYLAND_DISPLAY'] ?? '') !== ''
  return hasDisplay ? ['xdg-open', url] : undefined
}

function withUrl([file = '', ...args]: string[], url: string): Command {
  if (!args.includes('%s')) return [file, ...args, url]
  return [file, ...args.map((arg) => (arg === '%s' ? url : arg))]
}

export async function openBrowser([file, ...args]: Command): Promise<boolean> {
  const child = spawn(file, args, { stdio: 'ignore', detached: true })
  try {
    await once(child, 'spawn')
    child.unref()
    return true
  } catch {
    return false
  }
}
