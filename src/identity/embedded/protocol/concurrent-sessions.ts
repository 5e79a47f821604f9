import { createHmac } from 'node:crypto'
import type { Provider } from 'oidc-provider'
import { makeEndSession } from './adapter.ts'
import { openCookieKeys } from '../realms/keys.ts'
import type { EmbeddedParts } from '../parts.ts'
import type { RealmRecord } from '../record.ts'

/** The part of the library's sessions that is used here. */
type Session = {
  jti: string
  uid: string
  accountId?: string
  exp?: number
  loginTs?: number
  new?: boolean
  state?: Record<string, unknown> | undefined
  destroy(): Promise<void>
  persist(): Promise<unknown>
}

type SessionClass = { prototype: Session; instantiate(payload: unknown): Session }

/**
 * Protects sessions from lost updates. The library reads a session when a request begins and saves all of it at the
 * end, so an earlier request overwrote the changes of a later one: it signed users in again who had signed out, and
 * lost the secret of the form they were about to submit.
 */
export function protectConcurrentSessions(parts: EmbeddedParts, realm: RealmRecord, provider: Provider): void {
  // The library's types omit that a class method creates sessions, and that a session may have no expiry.
  const sessions = provider.Session as unknown as SessionClass
  const { prototype, instantiate } = sessions
  const { destroy, persist } = prototype
  const endSession = makeEndSession(parts, realm.slug)
  const secretOf = makeFormSecret(parts, realm)
  Object.defineProperties(prototype, {
    destroy: {
      async value(this: Session): Promise<void> {
        await endSession(this)
        await destroy.call(this)
      },
    },
    persist: {
      // A session that was never sent to a browser needs no storage; without an expiry the library would fail.
      value(this: Session): Promise<unknown> {
        return this.exp === undefined ? Promise.resolve() : persist.call(this)
      },
    },
  })
  Object.defineProperty(sessions, 'instantiate', {
    value(payload: unknown): Session {
      return withStableFormSecret(instantiate.call(sessions, payload), secretOf)
    },
  })
}

/**
 * Uses one form secret for the whole sign-in. The library would create a new one with each form and store only the
 * last; this one stays the same even if another request has overwritten it.
 */
function withStableFormSecret(session: Session, secretOf: (session: Session) => string): Session {
  let { state } = session
  Object.defineProperty(session, 'state', {
    enumerable: true,
    configurable: true,
    get: () => {
      if (state === undefined && session.new === true) return undefined
      state ??= {}
      state['secret'] = secretOf(session)
      return state
    },
    set: (given: Session['state']) => {
      state = given
    },
  })
  return session
}

/** Known only to the session's browser, and different after signing in. */
function makeFormSecret(parts: EmbeddedParts, realm: RealmRecord): (session: Session) => string {
  const [key = ''] = openCookieKeys(parts, realm)
  return ({ uid, loginTs }) =>
    createHmac('sha256', key)
      .update(`form|${uid}|${String(loginTs ?? '')}`)
      .digest('base64url')
}
