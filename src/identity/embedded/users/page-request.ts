import type { IncomingMessage, ServerResponse } from 'node:http'
import type { Provider } from 'oidc-provider'
import { issuerOf } from '../../../lib/realms.ts'
import type { EmbeddedParts } from '../parts.ts'
import type { Theme } from '../pages/style.ts'
import type { RealmRecord } from '../record.ts'

/** One request for a page of a realm, and what answers it. */
export type PageRequest = {
  parts: EmbeddedParts
  provider: Provider
  realm: RealmRecord
  theme: Theme
  req: IncomingMessage
  res: ServerResponse
  query: URLSearchParams
  /** What a form sent; undefined for a page that is only opened. */
  form: URLSearchParams | undefined
}

/** A path of the realm as browsers see it, which may have a path of the public address before it. */
export function pathIn({ parts, realm }: Pick<PageRequest, 'parts' | 'realm'>, below: string): string {
  return new URL(issuerOf(parts.publicUrl, realm.slug)).pathname + below
}

/** More than the largest of our forms, with the longest address, password and token. */
const FORM_BYTES_MAX = 16 * 1_024

/** The fields that a form sent; null for what is no form, or too large for one. */
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
 * Whether another site sent the form. Browsers say so since 2023; those that don't are held off by the cookies, which
 * don't travel with another site's form, and by the secrets in the forms themselves.
 */
export function isCrossSiteForm(req: IncomingMessage): boolean {
  const site = req.headers['sec-fetch-site']
  return site === 'cross-site' || site === 'same-site'
}
