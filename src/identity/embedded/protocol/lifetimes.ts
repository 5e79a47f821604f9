import type { Configuration, RefreshToken, Session } from 'oidc-provider'

/** Lifetime of an access token (contract §Authentication). */
export const ACCESS_TOKEN_SECONDS = 900

/** A session ends after a working day, active or not. */
export const SESSION_SECONDS = 36_000
/** An idle portal is signed out after this time; each use of its refresh token restarts it. */
const IDLE_SECONDS = 1_800
/** An idle command line or app is signed out after this time. */
const OFFLINE_IDLE_SECONDS = 30 * 86_400
/** The maximum lifetime of offline access, when its grant ends. */
const OFFLINE_SECONDS = 90 * 86_400

function isOffline(scope: string | undefined): boolean {
  return scope?.split(' ').includes('offline_access') ?? false
}

/** Whether a request asks for offline access, which outlasts the session. */
export function requestsOfflineAccess(params: unknown): boolean {
  if (typeof params !== 'object' || params === null || !('scope' in params)) return false
  return typeof params.scope === 'string' && isOffline(params.scope)
}

/** The lifetime of everything the protocol library stores or issues, in seconds. */
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

/** The remaining lifetime of a session, counted from the sign-in, which may be dated ahead, and not from its last use. */
function remainingOf(loginTs: number | undefined): number {
  if (loginTs === undefined) return IDLE_SECONDS
  const now = Math.floor(Date.now() / 1_000)
  return Math.max(Math.min(loginTs, now) + SESSION_SECONDS - now, 1)
}
