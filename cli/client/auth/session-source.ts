import { CUSTOMERS_REALM, PLATFORM_REALM } from '../../../src/lib/realms.ts'
import { CliError } from '../../base/errors.ts'
import type { Http } from './credentials.ts'
import { isOfDev, updateEntries } from './credentials-file.ts'
import type { Entries, Session } from './credentials-file.ts'
import { requestTokens } from './oidc.ts'
import type { Tokens } from './oidc.ts'
import { expiryOf, isFresh } from './token-source.ts'
import type { Token, TokenSource } from './token-source.ts'

export type SessionOwner = Pick<Session, 'api_url' | 'auth_url' | 'realm' | 'client_id' | 'name' | 'role'>

export function sessionOf(owner: SessionOwner, tokens: Tokens): Session {
  const { api_url, auth_url, realm, client_id, name, role } = owner
  return {
    type: 'session',
    api_url,
    auth_url,
    realm,
    client_id,
    ...(name === undefined ? {} : { name }),
    ...(role === undefined ? {} : { role }),
    access_token: tokens.access_token,
    expires_at: new Date(expiryOf(tokens)).toISOString(),
    refresh_token: tokens.refresh_token ?? null,
  }
}

/**
 * A person's session of credentials.json. It is renewed shortly before it expires, by one process at a time: a refresh
 * token works once, and a second use of it ends the session. The one that waited takes what the other got.
 */
export function sessionSource(configDir: string, key: string, session: Session): TokenSource {
  let held = session
  let underWay: Promise<Token> | undefined

  function renewed(http: Http, refused: string | undefined): Promise<Token> {
    underWay ??= renew(http, refused).finally(() => (underWay = undefined))
    return underWay
  }

  async function renew(http: Http, refused: string | undefined): Promise<Token> {
    const entries = await updateEntries(configDir, async (now) => {
      const current = sessionIn(now, key)
      const token = tokenOf(current)
      if (isFresh(token) && token.accessToken !== refused) return now
      return { ...now, [key]: await refreshed(http, current) }
    })
    held = sessionIn(entries, key)
    // Written down also where it was refused, so that the next command need not ask again.
    if (held.refresh_token === null && !isFresh(tokenOf(held))) throw sessionOver(key, held)
    return tokenOf(held)
  }

  async function end(refused: string): Promise<CliError> {
    await updateEntries(configDir, async (now) => {
      const current = now[key]
      // The user may have signed in again meanwhile.
      const isIt = current?.type === 'session' && current.access_token === refused
      return isIt ? { ...now, [key]: ended(current) } : now
    })
    return sessionOver(key, session)
  }

  return {
    realm: session.realm,
    clientId: session.client_id,
    token: async (http) => (isFresh(tokenOf(held)) ? tokenOf(held) : renewed(http, undefined)),
    renew: async (http, refused) => (await renewed(http, refused)).accessToken !== refused,
    end,
  }
}

function sessionIn(entries: Entries, key: string): Session {
  const entry = entries[key]
  if (entry?.type === 'session') return entry
  // Signed out by another process in the meantime.
  throw new CliError('NOT_SIGNED_IN', 'no longer signed in', { hint: 'svc login' })
}

function tokenOf({ access_token: accessToken, expires_at: expiresAt }: Session): Token {
  return { accessToken, expiresAt: expiresAt === null ? null : Date.parse(expiresAt) }
}

const GONE: ReadonlySet<string> = new Set(['INVALID_GRANT', 'INVALID_CLIENT', 'UNAUTHORIZED_CLIENT', 'UNKNOWN_REALM'])

async function refreshed(http: Http, session: Session): Promise<Session> {
  const { refresh_token: refreshToken, auth_url: authUrl, realm, client_id } = session
  if (refreshToken === null) return ended(session)
  try {
    const form = { grant_type: 'refresh_token', client_id, refresh_token: refreshToken }
    const tokens = await requestTokens(http, { authUrl, realm }, form)
    return sessionOf(session, { refresh_token: refreshToken, ...tokens })
  } catch (error) {
    if (error instanceof CliError && GONE.has(error.code)) return ended(session)
    throw error
  }
}

/**
 * All that is kept of a session that has ended: whose it was. Nothing in it proves anything, and as long as it stands
 * there, commands don't silently become the demo merchant's.
 */
function ended(session: Session): Session {
  return { ...session, refresh_token: null, access_token: '', expires_at: new Date(0).toISOString() }
}

function sessionOver(key: string, { realm }: Session): CliError {
  return new CliError('SESSION_EXPIRED', `your session in realm ${realm} has ended`, {
    hint: isOfDev(key) ? `${loginTo(realm)}; svc logout returns to the demo logins` : `svc login --profile ${key}`,
  })
}

function loginTo(realm: string): string {
  if (realm === CUSTOMERS_REALM) return 'svc login --customer'
  return realm === PLATFORM_REALM ? 'svc login --platform' : `svc login --realm ${realm}`
}
