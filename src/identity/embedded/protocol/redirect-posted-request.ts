import type { IncomingMessage, ServerResponse } from 'node:http'
import { AUTHORIZATION_PATH, LOGOUT_PATH, mountOf } from './configuration.ts'
import { unreadablePage } from '../pages/message.ts'
import { sendPage } from '../pages/shell.ts'
import { themeOf } from '../pages/style.ts'
import type { EmbeddedParts } from '../parts.ts'
import type { RealmRecord } from '../record.ts'
import { readForm } from '../users/page-request.ts'

const POSTABLE: readonly string[] = [AUTHORIZATION_PATH, LOGOUT_PATH]

/** More would not fit into what browsers and our own server take as one address. */
const ADDRESS_LENGTH_MAX = 8_000

/**
 * Sends a request for signing in or out that came as a form on as an address: OpenID Connect wants both to work. The
 * library answers forms there only with cookies that travel with other sites' forms, which ours never do; the browser
 * brings them with the address.
 * @returns whether it was answered
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
