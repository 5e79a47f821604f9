import type { IncomingMessage } from 'node:http'
import { z } from 'zod'
import type { App } from '../app.ts'
import { clientAddressOf } from '../lib/client-address.ts'
import { DomainError } from '../lib/errors.ts'
import type { FieldError } from '../lib/errors.ts'
import { parsePart } from '../lib/field-errors.ts'
import { hasBody } from '../wire/operation.ts'
import type { Operation } from '../wire/operation.ts'
import { parseJsonBody, readBody } from './body.ts'
import type { BodyRules, Input, RoutedRequest } from './endpoint.ts'
import type { Principal } from './principal.ts'

type Request<O extends Operation> = {
  app: App
  operation: O
  req: RoutedRequest
  principal: Principal
  rules: BodyRules | undefined
}

/**
 * Every part of a request by the operation's own schemas.
 * @throws {DomainError} VALIDATION_FAILED with all that is wrong (decision 10)
 */
export async function parseRequest<O extends Operation>(request: Request<O>): Promise<Input<O>> {
  const { app, operation, req, principal, rules } = request
  const rawBody = await readBody(req)
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
  errors.push(...keyTwins(operation, req))
  if (errors.length > 0) {
    errors.push(...(rules?.(json) ?? []))
    throw new DomainError(
      'VALIDATION_FAILED',
      errors.map(({ path, message }) => `${path || 'body'}: ${message}`).join('; '),
      { errors },
    )
  }
  // Every part has been parsed by its own schema, which its type can't show.
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
    // Laid out only for the one operation that asks for it.
    get allHeaders() {
      return flatHeaders(req)
    },
  } as Input<O>
}

/** The router fills in the names of every pattern that fits the path: also `{ordinal}` where `export` is a path of its own. */
function ownParams({ path }: Operation, params: Readonly<Record<string, string>>): Record<string, string> {
  return Object.fromEntries(Object.entries(params).filter(([name]) => path.includes(`{${name}}`)))
}

function bodySchema({ body, bodyWithCheckoutToken }: Operation, { kind }: Principal): z.ZodType {
  return kind === 'checkout-token' ? (bodyWithCheckoutToken ?? body) : body
}

const KEY = 'x-idempotency-key'

/** Two keys are joined to one on their way here, which is neither. */
function keyTwins({ headers }: Operation, { rawHeaders }: IncomingMessage): FieldError[] {
  if (!(headers instanceof z.ZodObject) || !(KEY in headers.shape)) return []
  const count = rawHeaders.filter((text, at) => at % 2 === 0 && text.toLowerCase() === KEY).length
  return count > 1 ? [{ path: KEY, code: 'INVALID', message: 'must be sent once' }] : []
}

function flatHeaders(req: IncomingMessage): Record<string, string | undefined> {
  return Object.fromEntries(
    Object.entries(req.headers).map(([name, value]) => [name, Array.isArray(value) ? value[0] : value]),
  )
}
