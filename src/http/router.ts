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

/** The query as it was written: polka's own would lose repeated names. */
export function queryOf(req: IncomingMessage): URLSearchParams {
  return new URLSearchParams((req.url ?? '').split('?').slice(1).join('?'))
}
