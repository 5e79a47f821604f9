import type { PayerSession } from '../../src/wire/payer.ts'

/** A session, when it ends, in milliseconds of the browser's clock, and whose it is, as far as it may be shown. */
export type Session = { token: string; endsAtMs: number; contact: string }

/** Where the session is kept: in the tab alone, and nowhere once the tab is closed. */
export type SessionStore = {
  /** The session, unless its time is over. */
  read(): Session | undefined
  keep(session: PayerSession): void
  forget(): void
}

const KEY = 'svc_payer_session'

/** Keeps the session in the tab's storage; in memory, until the next load, where the browser blocks that. */
export function makeSessionStore(storageOf: () => Storage = () => window.sessionStorage): SessionStore {
  let current = readStored(storageOf)
  return {
    read: () => (current !== undefined && current.endsAtMs > Date.now() ? current : undefined),
    keep({ session_token: token, expires_in: seconds, contact }) {
      current = { token, endsAtMs: Date.now() + seconds * 1_000, contact }
      const text = JSON.stringify(current)
      unlessBlocked(() => storageOf().setItem(KEY, text))
    },
    forget() {
      current = undefined
      unlessBlocked(() => storageOf().removeItem(KEY))
    },
  }
}

function readStored(storageOf: () => Storage): Session | undefined {
  let found: Session | undefined
  unlessBlocked(() => {
    const stored: Partial<Session> = JSON.parse(storageOf().getItem(KEY) ?? '{}') as Partial<Session>
    const { token, endsAtMs, contact } = stored
    if (typeof token !== 'string' || typeof endsAtMs !== 'number' || typeof contact !== 'string') return
    found = { token, endsAtMs, contact }
  })
  return found
}

/** Storage can be forbidden, full, or hold what somebody else wrote. */
function unlessBlocked(use: () => void): void {
  try {
    use()
  } catch {
    // The session is then in memory alone.
  }
}
