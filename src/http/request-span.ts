import type { IncomingMessage, ServerResponse } from 'node:http'
import { SpanKind, SpanStatusCode, inSpan } from '../lib/trace.ts'
import type { InSpan } from '../lib/trace.ts'

/** The span of a route's requests, made once. */
export function requestSpan(method: string, route: string): InSpan {
  const attributes = { 'http.request.method': method, 'http.route': route }
  return { name: `${method} ${route}`, kind: SpanKind.SERVER, attributes, isUnverified: true }
}

/** Handles a request in a span of the trace that the caller's `traceparent` names. It begins before the caller is known. */
export function inRequestSpan(
  span: InSpan,
  { req, res }: { req: IncomingMessage; res: ServerResponse },
  handle: () => Promise<void>,
): Promise<void> {
  return inSpan(span, req.headers['traceparent'], async (started) => {
    await handle()
    if (started === undefined) return
    started.setAttribute('http.response.status_code', res.statusCode)
    if (res.statusCode >= 500) started.setStatus({ code: SpanStatusCode.ERROR })
  })
}
