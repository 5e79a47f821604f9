import type { IncomingHttpHeaders } from 'node:http'
import { DomainError } from '../lib/errors.ts'

/** This machine, by name or address, with any port. */
const LOCAL = String.raw`(?:localhost|127(?:\.\d{1,3}){3}|\[::1\])(?::\d{1,5})?`
const LOCAL_HOST = new RegExp(`^${LOCAL}$`, 'i')
const LOCAL_ORIGIN = new RegExp(`^https?://${LOCAL}$`, 'i')

/**
 * Whether a form was sent by a page of this service or of this machine, or by a program, which sends no Origin. For
 * requests without credentials. A page that hides its origin (`Origin: null`) counts as foreign.
 */
export function isOwnForm({ origin }: IncomingHttpHeaders, publicUrl: string): boolean {
  return origin === undefined || origin === new URL(publicUrl).origin || LOCAL_ORIGIN.test(origin)
}

/**
 * Rejects requests that a foreign page sends through a browser on this machine. A service that trusts headers listens on a
 * loopback address only (decision 57), but a foreign page can still call it: by its own name that resolves to this
 * machine ("DNS rebinding"), which the Host header shows, or across origins, which the Origin header shows.
 * @throws {DomainError} UNAUTHENTICATED
 */
export function refuseForeignPages({ host, origin }: IncomingHttpHeaders): void {
  if (host === undefined || !LOCAL_HOST.test(host)) {
    throw new DomainError(
      'UNAUTHENTICATED',
      'without an identity provider, the service accepts requests to this machine only',
      {
        next: 'call it as localhost, 127.0.0.1 or [::1]; for other callers, run it with an identity provider',
      },
    )
  }
  if (origin !== undefined && !LOCAL_ORIGIN.test(origin)) {
    throw new DomainError(
      'UNAUTHENTICATED',
      'without an identity provider, the service accepts requests from local pages only',
      {
        next: 'call it from a page on localhost, or from a program; for other pages, run it with an identity provider',
      },
    )
  }
}
