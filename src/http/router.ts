import type { IncomingMessage, ServerResponse } from 'node:http'
import type polka from 'polka'
import type { PageReply } from './pages/page.ts'

/** polka, which does nothing here but find the route. */
export type Router = ReturnType<typeof polka>

/** Runs a route, answers what goes wrong in it, and tells the log. */
export type Served = (req: IncomingMessage, res: ServerResponse, run: () => Promise<void>) => Promise<void>

export function sendPage(res: ServerResponse, { status, headers, body }: PageReply): void {
  res.writeHead(status, headers).end(body)
}

/** What a payer brings back from the bank, by which a page changes something. */
const ACTS = ['code', 'error']

/**
 * The query of a page that acts on it. HEAD only looks (RFC 9110, section 9.3.2): what scanners of links and previews ask
 * for completes nothing.
 */
export function actsOf(req: IncomingMessage): URLSearchParams {
  const query = queryOf(req)
  if (req.method === 'HEAD') for (const name of ACTS) query.delete(name)
  return query
}

/** The query as it was written: polka's own would lose repeated names. */
export function queryOf(req: IncomingMessage): URLSearchParams {
  return new URLSearchParams((req.url ?? '').split('?').slice(1).join('?'))
}
