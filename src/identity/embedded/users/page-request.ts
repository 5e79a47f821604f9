import type { IncomingMessage, ServerResponse } from 'node:http'
import type { Provider } from 'oidc-provider'
import { issuerOf } from '../../../lib/realms.ts'
import type { EmbeddedParts } from '../parts.ts'
import type { Theme } from '../pages/style.ts'
import type { RealmRecord } from '../record.ts'

/** A request for a page of a realm, with what is needed to respond. */
export type PageRequest = {
  parts: EmbeddedParts
  provider: Provider
  realm: RealmRecord
  theme: Theme
  req: IncomingMessage
  res: ServerResponse
  query: URLSearchParams
  /** The submitted form; undefined when a page is opened. */
  form: URLSearchParams | undefined
}

/** A path of the realm as the browser sees it: the public URL may have a path of its own. */
export function pathIn({ parts, realm }: Pick<PageRequest, 'parts' | 'realm'>, below: string): string {
  return new URL(issuerOf(parts.publicUrl, realm.slug)).pathname + below
}

/** More than our largest form with the longest address, password and token. */
const FORM_BYTES_MAX = 16 * 1_024

/** The submitted fields; null if the body is not a form or is too large. */
export async function readForm(req: IncomingMessage): Promise<URLSearchParams | null> {
  if (!/^application\/x-www-form-urlencoded\s*(;|$)/i.test(req.headers['content-type'] ?? '')) return null
  const chunks: Buffer[] = []
  let bytes = 0
  for await (const chunk of req.iterator({ destroyOnReturn: false })) {
    bytes += chunk.length
    if (bytes > FORM_BYTES_MAX) return null
    chunks.push(chunk)
  }
  return new URLSearchParams(Buffer.concat(chunks).toString('utf8'))
}

/**
 * Whether another site submitted the form. Browsers have sent this header since 2023; for older ones the cookies
 * protect, which are not sent with another site's form, and the secrets inside the forms.
 */
export function isCrossSiteForm(req: IncomingMessage): boolean {
  const site = req.headers['sec-fetch-site']
  return site === 'cross-site' || site === 'same-site'
}
