import { STATUS_CODES } from 'node:http'
import type { ServerResponse } from 'node:http'
import { BatchUnavailableError } from '../db/batcher.ts'
import { DatabaseSilentError } from '../db/pool.ts'
import { DomainError } from '../lib/errors.ts'
import type { Logger } from '../observe/log.ts'
import type { ErrorBody } from '../wire/common.ts'
import { ERROR_STATUS } from './error-status.ts'

/** Nothing the API answers may be kept by anyone on the way. */
const HEADERS = { 'cache-control': 'no-store', 'x-content-type-options': 'nosniff' }

export function sendJson(
  res: ServerResponse,
  status: number,
  body: unknown,
  headers: Record<string, string> = {},
): void {
  // As text and not as bytes: head and body then leave in one write to the socket.
  const text = JSON.stringify(body)
  const length = Buffer.byteLength(text, 'utf8')
  res.writeHead(status, {
    ...HEADERS,
    'content-type': 'application/json; charset=utf-8',
    'content-length': length,
    ...headers,
  })
  res.end(text, 'utf8')
}

export type Failed = { error: unknown; requestId: string; publicUrl: string; log: Logger }

/**
 * Answers a failure (decision 29). An expected one is told with its code; anything else is logged whole and shown as
 * nothing but its request id.
 */
export function sendError(res: ServerResponse, { error, requestId, publicUrl, log }: Failed): void {
  const known = expected(error)
  if (known.code === 'INTERNAL_ERROR') log.error({ err: error, request_id: requestId }, 'a request failed')
  else if (ERROR_STATUS[known.code] >= 500)
    log.warn({ err: error, request_id: requestId }, 'a request could not be served')
  if (res.headersSent) {
    res.destroy()
    return
  }
  const status = ERROR_STATUS[known.code]
  const headers: Record<string, string> = { 'x-request-id': requestId }
  if (known.retryAfterSeconds !== undefined) headers['retry-after'] = String(known.retryAfterSeconds)
  if (status === 401) headers['www-authenticate'] = 'Bearer'
  // The rest of an oversized body is not read: the connection can't carry another request.
  if (status === 413) headers['connection'] = 'close'
  sendJson(res, status, errorBody(known, { status, requestId, publicUrl }), headers)
}

function errorBody(
  error: DomainError,
  { status, requestId, publicUrl }: { status: number; requestId: string; publicUrl: string },
): ErrorBody {
  return {
    error: error.message,
    code: error.code,
    status,
    type: `${publicUrl}/errors/${error.code.toLowerCase().replaceAll('_', '-')}`,
    request_id: requestId,
    ...(error.errors === undefined ? {} : { errors: error.errors }),
    ...(error.next === undefined ? {} : { next: error.next }),
  }
}

function expected(error: unknown): DomainError {
  if (error instanceof DomainError) return error
  if (isDatabaseAway(error)) {
    return new DomainError('SERVICE_UNAVAILABLE', 'the service gets no answer from its database', {
      cause: error,
      retryAfterSeconds: 1,
    })
  }
  return new DomainError('INTERNAL_ERROR', STATUS_CODES[500] ?? 'Internal Server Error', { cause: error })
}

/** Names of slonik's errors for a connection that is lost or not to be had. */
const AWAY =
  /^(ConnectionError|BackendTerminatedError|BackendTerminatedUnexpectedlyError|UnexpectedStateError|StatementTimeoutError)$/

/** The network's codes, and the server's for: stopping, overloaded, a lock or a turn that was not to be had in time. */
const AWAY_CODES = /^(ECONN|EPIPE|ETIMEDOUT|57P|57014|08|53|55P03|40001|40P01)/

function isDatabaseAway(error: unknown): boolean {
  if (error instanceof BatchUnavailableError || error instanceof DatabaseSilentError) return true
  if (!(error instanceof Error)) return false
  if (AWAY.test(error.name)) return true
  if ('code' in error && typeof error.code === 'string' && AWAY_CODES.test(error.code)) return true
  return isDatabaseAway(error.cause)
}
