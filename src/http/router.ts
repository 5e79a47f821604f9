import type { IncomingMessage, ServerResponse } from 'node:http'
import type polka from 'polka'
import type { PageReply } from './pages/page.ts'

/** polka, used only to find the route. */
export type Router = ReturnType<typeof polka>

/** Runs a page's route, responds to its errors, and logs it. */
export type Served = (req: IncomingMessage, res: ServerResponse, run: () => Promise<void>) => Promise<void>

export function sendPage(res: ServerResponse, { status, headers, body }: PageReply): void {
  res.writeHead(status, headers).end(body)
}

/** Query parameters from the bank's redirect, which make a page change something. */
const ACTING_PARAMETERS = ['code', 'error']

/**
 * The query of a page that acts on it. HEAD must change nothing (RFC 9110, section 9.3.2): link scanners and previews send
 * it, and must not complete a payment.
 */
export function actsOf(req: IncomingMessage): URLSearchParams {
  const query = queryOf(req)
  if (req.method === 'HEAD') for (const name of ACTING_PARAMETERS) query.delete(name)
  return query
}

/** The query as sent: polka's own loses repeated names. */
export function queryOf(req: IncomingMessage): URLSearchParams {
  return new URLSearchParams((req.url ?? '').split('?').slice(1).join('?'))
}
