import type { Configuration, RefreshToken, Session } from 'oidc-provider'

/** How long an access token is good for (contract §Authentication). */
export const ACCESS_TOKEN_SECONDS = 900

/** Signing in again is asked for after a working day, whoever was busy or not. */
export const SESSION_SECONDS = 36_000
/** A portal that is left alone is signed out; each use of its refresh token begins the time anew. */
const IDLE_SECONDS = 1_800
/** A command line or an app that nobody used for so long is signed out. */
const OFFLINE_IDLE_SECONDS = 30 * 86_400
/** And at the latest after so long, when its grant ends. */
const OFFLINE_SECONDS = 90 * 86_400

function isOffline(scope: string | undefined): boolean {
  return scope?.split(' ').includes('offline_access') ?? false
}

/** Whether a request wants access that outlasts the session. */
export function requestsOfflineAccess(params: unknown): boolean {
  if (typeof params !== 'object' || params === null || !('scope' in params)) return false
  return typeof params.scope === 'string' && isOffline(params.scope)
}

/** Of everything that the protocol library keeps or gives out, in seconds. */
export const LIFETIMES: NonNullable<Configuration['ttl']> = {
  AccessToken: ACCESS_TOKEN_SECONDS,
  ClientCredentials: ACCESS_TOKEN_SECONDS,
  IdToken: ACCESS_TOKEN_SECONDS,
  AuthorizationCode: 60,
  DeviceCode: 600,
  Interaction: 1_800,
  Grant: (ctx) => (requestsOfflineAccess(ctx.oidc.params) ? OFFLINE_SECONDS : SESSION_SECONDS),
  RefreshToken: (_ctx, token: RefreshToken) => (isOffline(token.scope) ? OFFLINE_IDLE_SECONDS : IDLE_SECONDS),
  Session: (_ctx, session: Session) => remainingOf(session.loginTs),
}

/** What is left of a session, which is counted from the sign-in and not from its last use. */
function remainingOf(loginTs: number | undefined): number {
  if (loginTs === undefined) return IDLE_SECONDS
  return Math.max(loginTs + SESSION_SECONDS - Math.floor(Date.now() / 1_000), 1)
}
