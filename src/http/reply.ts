import { STATUS_CODES } from 'node:http'
import type { IncomingMessage, ServerResponse } from 'node:http'
import { isDatabaseUnavailable } from '../db/is-database-unavailable.ts'
import { IdentityUnavailableError } from '../identity/provider.ts'
import { DomainError } from '../lib/errors.ts'
import type { RateLimitPolicy, RequiredSignIn } from '../lib/errors.ts'
import { currentTraceId } from '../lib/trace.ts'
import type { Logger } from '../observe/log.ts'
import type { ErrorBody } from '../wire/common.ts'
import { ERROR_STATUS } from './error-status.ts'
import { isOpenBanking, openBankingError, openBankingStatus } from './open-banking-errors.ts'

/** No cache may store a response of the API. */
const HEADERS = { 'cache-control': 'no-store', 'x-content-type-options': 'nosniff' }

/** Responds without a body. */
export function sendNothing(res: ServerResponse, headers: Record<string, string> = {}): void {
  res.writeHead(204, { ...HEADERS, ...headers }).end()
}

export function sendJson(
  res: ServerResponse,
  status: number,
  body: unknown,
  headers: Record<string, string> = {},
): void {
  sendText(res, status, JSON.stringify(body), { 'content-type': 'application/json; charset=utf-8', ...headers })
}

/** Responds with text; `headers` has its content type. */
export function sendText(res: ServerResponse, status: number, text: string, headers: Record<string, string>): void {
  // As text, not as bytes: headers and body are then one write to the socket.
  const length = Buffer.byteLength(text, 'utf8')
  res.writeHead(status, { ...HEADERS, 'content-length': length, ...headers })
  res.end(text, 'utf8')
}

/** The framework's own response to a route that does not exist, without the error envelope (contract §Errors). */
export function sendUnknown(req: IncomingMessage, res: ServerResponse): void {
  const path = (req.url ?? '/').split('?')[0]
  sendJson(res, 404, { message: `Route ${req.method}:${path} not found` })
}

export type FailedRequest = { error: unknown; requestId: string; publicUrl: string; log: Logger }

/**
 * Sends an error response (decision 29). An expected error is shown with its code; any other is logged in full, and the
 * response shows only its request id.
 */
export function sendError(res: ServerResponse, { error, requestId, publicUrl, log }: FailedRequest): void {
  const known = expected(error)
  if (known.code === 'INTERNAL_ERROR') log.error({ err: error, request_id: requestId }, 'a request failed')
  else if (ERROR_STATUS[known.code] >= 500)
    log.warn({ err: error, request_id: requestId }, 'a request could not be served')
  if (res.headersSent) {
    res.destroy()
    return
  }
  const isOfSurfaceA = isOpenBanking(res.req.url)
  const status = isOfSurfaceA ? openBankingStatus(known.code) : ERROR_STATUS[known.code]
  const headers: Record<string, string> = {
    'x-request-id': requestId,
    ...(isOfSurfaceA ? { 'x-fapi-interaction-id': requestId } : {}),
  }
  if (known.retryAfterSeconds !== undefined) headers['retry-after'] = String(known.retryAfterSeconds)
  if (known.rateLimit !== undefined) Object.assign(headers, rateLimitHeaders(known.rateLimit, known.retryAfterSeconds))
  if (status === 401)
    headers['www-authenticate'] = known.signIn === undefined ? challenge(res.req) : stepUpChallenge(known.signIn)
  if (known.scope !== undefined)
    headers['www-authenticate'] = `Bearer error="insufficient_scope", scope="${known.scope}"`
  // The rest of an oversized body is not read, so the connection can't carry another request.
  if (status === 413) headers['connection'] = 'close'
  const body = isOfSurfaceA
    ? openBankingError(known, { id: requestId, publicUrl })
    : errorBody(known, { status, requestId, publicUrl })
  sendJson(res, status, body, headers)
}

/** The headers of the IETF's draft on rate limits: the policy, and that nothing is left of it for a time. */
function rateLimitHeaders({ name, quota, windowSeconds }: RateLimitPolicy, seconds = 1): Record<string, string> {
  return { 'ratelimit-policy': `"${name}";q=${quota};w=${windowSeconds}`, ratelimit: `"${name}";r=0;t=${seconds}` }
}

/** The WWW-Authenticate header of a 401 (RFC 6750): the scheme, and whether a token was sent and is invalid. */
function challenge({ headers }: IncomingMessage): string {
  return /^bearer\b/i.test(headers.authorization ?? '') ? 'Bearer error="invalid_token"' : 'Bearer'
}

/** The sign-in that the caller has to ask its provider for (RFC 9470, section 3). */
function stepUpChallenge({ acr, maxAgeSeconds }: RequiredSignIn): string {
  return `Bearer error="insufficient_user_authentication", acr_values="${acr}", max_age="${String(maxAgeSeconds)}"`
}

/** The error body of Surface B. */
export function errorBody(
  error: DomainError,
  { status, requestId, publicUrl }: { status: number; requestId: string; publicUrl: string },
): ErrorBody {
  const traceId = currentTraceId()
  return {
    error: error.message,
    code: error.code,
    status,
    type: `${publicUrl}/errors/${error.code.toLowerCase().replaceAll('_', '-')}`,
    request_id: requestId,
    ...(traceId === undefined ? {} : { trace_id: traceId }),
    ...(error.errors === undefined ? {} : { errors: error.errors }),
    ...(error.next === undefined ? {} : { next: error.next }),
    ...(error.nextStep === undefined ? {} : { next_step: error.nextStep }),
    ...(error.available === undefined ? {} : { available: error.available }),
    ...(error.current === undefined ? {} : { current: error.current }),
  }
}

function expected(error: unknown): DomainError {
  if (error instanceof DomainError) return error
  // Before the database's, because a refused connection can be the cause of either.
  if (error instanceof IdentityUnavailableError) {
    return new DomainError('IDP_UNAVAILABLE', 'the identity provider does not respond', {
      cause: error,
      next: 'try again; a repeated request continues where the first one stopped',
      retryAfterSeconds: 1,
    })
  }
  if (isDatabaseUnavailable(error)) {
    return new DomainError('SERVICE_UNAVAILABLE', 'the database does not respond', {
      cause: error,
      retryAfterSeconds: 1,
    })
  }
  return new DomainError('INTERNAL_ERROR', STATUS_CODES[500] ?? 'Internal Server Error', { cause: error })
}
