import type { IncomingHttpHeaders } from 'node:http'
import { DomainError } from '../lib/errors.ts'

/** This machine by name or address, with any port. */
const LOCAL = String.raw`(?:localhost|127(?:\.\d{1,3}){3}|\[::1\])(?::\d{1,5})?`
const LOCAL_HOST = new RegExp(`^${LOCAL}$`, 'i')
const LOCAL_ORIGIN = new RegExp(`^https?://${LOCAL}$`, 'i')

/**
 * Whether a form was sent by a page of this service or of this machine, or by a program, which names no page. For what a
 * browser may ask for without any credential; a page that hides where it is (`Origin: null`) is one from elsewhere.
 */
export function isOwnForm({ origin }: IncomingHttpHeaders, publicUrl: string): boolean {
  return origin === undefined || origin === new URL(publicUrl).origin || LOCAL_ORIGIN.test(origin)
}

/**
 * Refuses what a page from elsewhere asks for through a browser on this machine. A service that believes headers listens
 * on a loopback address only (decision 57), but such a page can call it: by a name of its own that it lets point here
 * ("DNS rebinding"), which the Host header shows, or across origins, which the Origin header shows.
 * @throws {DomainError} UNAUTHENTICATED
 */
export function refuseForeignPages({ host, origin }: IncomingHttpHeaders): void {
  if (host === undefined || !LOCAL_HOST.test(host)) {
    throw new DomainError('UNAUTHENTICATED', 'without an identity provider the service is for this machine alone', {
      next: 'call it as localhost, 127.0.0.1 or [::1]; for callers from elsewhere, run it with an identity provider',
    })
  }
  if (origin !== undefined && !LOCAL_ORIGIN.test(origin)) {
    throw new DomainError(
      'UNAUTHENTICATED',
      'without an identity provider no page from elsewhere may call the service',
      {
        next: 'call it from a page on localhost, or from a program; for other pages, run it with an identity provider',
      },
    )
  }
}
