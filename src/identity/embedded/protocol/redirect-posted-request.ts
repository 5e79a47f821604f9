import type { IncomingMessage, ServerResponse } from 'node:http'
import { AUTHORIZATION_PATH, LOGOUT_PATH, mountOf } from './configuration.ts'
import { unreadablePage } from '../pages/message.ts'
import { sendPage } from '../pages/shell.ts'
import { themeOf } from '../pages/style.ts'
import type { EmbeddedParts } from '../parts.ts'
import type { RealmRecord } from '../record.ts'
import { readForm } from '../users/page-request.ts'

const POSTABLE: readonly string[] = [AUTHORIZATION_PATH, LOGOUT_PATH]

/** Longer URLs are not accepted by browsers and by our own server. */
const ADDRESS_LENGTH_MAX = 8_000

/**
 * Redirects an authorization or logout request that was posted as a form to the same request by GET; OpenID Connect
 * requires both methods. The library accepts such forms only with cookies that are sent with other sites' forms, which
 * ours never are; with the redirect the browser sends them.
 * @returns whether a response was sent
 */
export async function redirectPostedRequest(
  parts: EmbeddedParts,
  realm: RealmRecord,
  { req, res, path }: { req: IncomingMessage; res: ServerResponse; path: string },
): Promise<boolean> {
  if (req.method !== 'POST' || !POSTABLE.includes(path)) return false
  const form = await readForm(req)
  const address = `${mountOf(parts, realm.slug)}${path}?${String(form ?? '')}`
  if (form === null || address.length > ADDRESS_LENGTH_MAX) {
    sendPage(res, unreadablePage(themeOf(realm)))
    return true
  }
  res.writeHead(303, { location: address, 'cache-control': 'no-store', 'content-length': 0 }).end()
  return true
}
