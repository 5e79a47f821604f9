import type { IncomingMessage, ServerResponse } from 'node:http'
import { setTimeout as wait } from 'node:timers/promises'
import type { Faults } from './faults.ts'
import { sendJson } from './send-json.ts'

/** Twice what a client should read. */
const OVERSIZED_BYTES = 2_097_152

/**
 * Faults that come before the bank has done anything; true when the request is answered, or will never be.
 */
export async function failBefore(
  faults: Faults,
  operation: string,
  { req, res }: { req: IncomingMessage; res: ServerResponse },
): Promise<boolean> {
  const slow = faults.take('slow', operation)
  if (slow !== undefined) await wait(slow.seconds * 1_000)
  if (faults.take('down', operation) !== undefined) {
    req.socket.destroy()
    return true
  }
  const limited = faults.take('too_many_requests', operation)
  if (limited !== undefined) {
    res.writeHead(429, { 'retry-after': String(Math.ceil(limited.seconds)) }).end()
    return true
  }
  if (faults.take('redirect_elsewhere', operation) !== undefined) {
    res.writeHead(307, { location: 'https://another-bank.example/' }).end()
    return true
  }
  if (faults.take('unsigned_refusal', operation) !== undefined) {
    sendJson(res, 400, { Errors: [{ ErrorCode: 'U009', Message: 'refused' }] })
    return true
  }
  const broken = faults.take('server_error', operation)
  if (broken !== undefined) sendGatewayError(res, broken.status)
  return broken !== undefined
}

/** Faults that come when the bank has done what was asked; true when its answer must not be sent. */
export function failAfter(
  faults: Faults,
  operation: string,
  {
    res,
    headers,
    text,
    status,
  }: { res: ServerResponse; headers: Record<string, string>; text: string; status: number },
): boolean {
  // The connection stays open until the client gives up.
  if (faults.take('timeout_after_acceptance', operation) !== undefined) return true
  const broken = faults.take('server_error_after_acceptance', operation)
  if (broken !== undefined) {
    sendGatewayError(res, broken.status)
    return true
  }
  if (text !== '' && faults.take('oversized_body', operation) !== undefined) {
    res.writeHead(status, headers).end(text + ' '.repeat(OVERSIZED_BYTES))
    return true
  }
  if (text === '' || faults.take('half_a_body', operation) === undefined) return false
  const bytes = Buffer.from(text)
  res.writeHead(status, { ...headers, 'content-length': String(bytes.length) })
  res.write(bytes.subarray(0, bytes.length / 2), () => res.socket?.destroy())
  return true
}

/** What a bank's gateway says when the bank behind it is away: no JSON, no signature. */
function sendGatewayError(res: ServerResponse, status: number): void {
  res.writeHead(status, { 'content-type': 'text/html' }).end(`<h1>${String(status)}</h1>`)
}
