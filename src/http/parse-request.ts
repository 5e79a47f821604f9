import type { IncomingMessage } from 'node:http'
import { z } from 'zod'
import type { App } from '../app.ts'
import { clientAddressOf } from '../lib/client-address.ts'
import { DomainError } from '../lib/errors.ts'
import type { FieldError } from '../lib/errors.ts'
import { parsePart } from '../lib/field-errors.ts'
import { hasBody } from '../wire/operation.ts'
import type { Operation } from '../wire/operation.ts'
import { BODY_BYTES_MAX, OPEN_BODY_BYTES_MAX, hasContent, parseJsonBody, readBody } from './body.ts'
import type { BodyRules, Input, RoutedRequest } from './endpoint.ts'
import type { Principal } from './principal.ts'

type RequestToParse<O extends Operation> = {
  app: App
  operation: O
  req: RoutedRequest
  principal: Principal
  rules: BodyRules | undefined
}

/**
 * Parses every part of a request by the operation's schemas.
 * @throws {DomainError} VALIDATION_FAILED with all errors at once (decision 10)
 */
export async function parseRequest<O extends Operation>(request: RequestToParse<O>): Promise<Input<O>> {
  const { app, operation, req, principal, rules } = request
  if (!hasBody(operation) && (await hasContent(req))) {
    throw new DomainError('VALIDATION_FAILED', `${operation.name} takes no body`, {
      errors: [{ path: '', code: 'NOT_APPLICABLE', message: 'must be omitted' }],
    })
  }
  const rawBody = await readBody(req, operation.bodyBytesMax ?? bytesMaxOf(principal))
  const json = parseJsonBody(rawBody, req.headers['content-type'])
  if (json === undefined && operation.bodyOptional !== true && hasBody(operation)) {
    throw new DomainError('VALIDATION_FAILED', 'the request has no body', {
      errors: [{ path: '', code: 'REQUIRED', message: 'a JSON body is required' }],
    })
  }
  const errors: FieldError[] = []
  const params = parsePart(operation.params, ownParams(operation, req.params), errors)
  const query = parsePart(operation.query, req.query, errors)
  const headers = parsePart(operation.headers, req.headers, errors)
  const body = parsePart(bodySchema(operation, principal), json, errors)
  errors.push(...repeatedKeyErrors(operation, req))
  if (errors.length > 0) {
    errors.push(...(rules?.(json) ?? []))
    throw new DomainError(
      'VALIDATION_FAILED',
      errors.map(({ path, message }) => `${path || 'body'}: ${message}`).join('; '),
      { errors },
    )
  }
  // Every part was parsed by its own schema, which the type can't express.
  return {
    principal,
    params,
    query,
    headers,
    body,
    rawBody,
    get clientAddress() {
      return clientAddressOf(req, app.config.trustProxy)
    },
    // Computed only for the one operation that reads it.
    get allHeaders() {
      return flatHeaders(req)
    },
  } as Input<O>
}

/** A smaller body where no merchant, operator or customer is known to have sent it (decision 297). */
function bytesMaxOf({ kind }: Principal): number {
  return SENDERS_KNOWN.has(kind) ? BODY_BYTES_MAX : OPEN_BODY_BYTES_MAX
}

const SENDERS_KNOWN: ReadonlySet<Principal['kind']> = new Set(['merchant', 'platform', 'customer'])

/** The parameters of this operation's path. The router adds those of every matching pattern: also `{ordinal}` for `/export`. */
function ownParams({ path }: Operation, params: Readonly<Record<string, string>>): Record<string, string> {
  return Object.fromEntries(Object.entries(params).filter(([name]) => path.includes(`{${name}}`)))
}

function bodySchema({ body, bodyWithCheckoutToken }: Operation, { kind }: Principal): z.ZodType {
  return kind === 'checkout-token' ? (bodyWithCheckoutToken ?? body) : body
}

const KEY = 'x-idempotency-key'

/** Rejects two idempotency keys, which Node.js joins to one value that is neither. */
function repeatedKeyErrors({ headers }: Operation, { rawHeaders }: IncomingMessage): FieldError[] {
  if (!(headers instanceof z.ZodObject) || !(KEY in headers.shape)) return []
  const count = rawHeaders.filter((text, at) => at % 2 === 0 && text.toLowerCase() === KEY).length
  return count > 1 ? [{ path: KEY, code: 'INVALID', message: 'must be sent once' }] : []
}

function flatHeaders(req: IncomingMessage): Record<string, string | undefined> {
  return Object.fromEntries(
    Object.entries(req.headers).map(([name, value]) => [name, Array.isArray(value) ? value[0] : value]),
  )
}
