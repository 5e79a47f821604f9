import { createHmac } from 'node:crypto'
import type { Provider } from 'oidc-provider'
import { makeEndSession } from './adapter.ts'
import { openCookieKeys } from '../realms/keys.ts'
import type { EmbeddedParts } from '../parts.ts'
import type { RealmRecord } from '../record.ts'

/** What of the library's sessions is used here. */
type Session = {
  jti: string
  uid: string
  exp?: number
  loginTs?: number
  new?: boolean
  state?: Record<string, unknown> | undefined
  destroy(): Promise<void>
  persist(): Promise<unknown>
}

type SessionClass = { prototype: Session; instantiate(payload: unknown): Session }

/**
 * Sessions that requests at once can't break. The library reads a session when a request begins and saves all of it at the
 * end, so a request that began earlier undoes what a later one did: it signed people in again who had signed out, and
 * forgot the secret of the form that they were about to send.
 */
export function protectConcurrentSessions(parts: EmbeddedParts, realm: RealmRecord, provider: Provider): void {
  // Its types know neither that sessions are made by a method of their class nor that they may be without an end.
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
      // A session that was never given out has nothing to keep; the library would fail for want of its end.
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
 * Gives the forms of a session one secret for as long as the sign-in lasts, where the library would make another with
 * each form and remember the last. One that another request has forgotten, or replaced, is still the same.
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

/** Known to the browser of the session alone, and another one after signing in. */
function makeFormSecret(parts: EmbeddedParts, realm: RealmRecord): (session: Session) => string {
  const [key = ''] = openCookieKeys(parts, realm)
  return ({ uid, loginTs }) =>
    createHmac('sha256', key)
      .update(`form|${uid}|${String(loginTs ?? '')}`)
      .digest('base64url')
}
