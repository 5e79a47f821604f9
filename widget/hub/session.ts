import type { PayerSession } from '../../src/wire/payer.ts'

/** A session with its end, in milliseconds of the browser's clock, and the payer's masked contact. */
export type Session = { token: string; endsAtMs: number; contact: string }

/** Stores the session for this tab only, until the tab is closed. */
export type SessionStore = {
  /** The session, unless it has expired. */
  read(): Session | undefined
  keep(session: PayerSession): void
  forget(): void
}

const KEY = 'svc_payer_session'

/** Stores the session in the tab's storage; in memory until the next load if storage is blocked. */
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

/** Storage may be blocked, full or contain invalid data. */
function unlessBlocked(use: () => void): void {
  try {
    use()
  } catch {
    // The session then stays in memory only.
  }
}
