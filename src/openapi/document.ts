import { isOpenBanking, openBankingError, openBankingStatus } from '../http/open-banking-errors.ts'
import { ERROR_STATUS } from '../http/error-status.ts'
import { errorBody } from '../http/reply.ts'
import { routesOf } from '../http/routes.ts'
import { ERROR_TEXTS } from '../lib/error-texts.ts'
import { DomainError } from '../lib/errors.ts'
import type { ErrorCode } from '../lib/errors.ts'
import { packageVersion } from '../lib/package-root.ts'
import { rolesWith } from '../lib/permissions.ts'
import { ErrorBody } from '../wire/common.ts'
import { ErrorResponse } from '../wire/open-banking.ts'
import { errorsOf, hasBody, permissionsOfOperation } from '../wire/operation.ts'
import type { Operation } from '../wire/operation.ts'
import { payloadOf } from '../wire/webhook-payloads.ts'
import { EventType } from '../wire/webhook-events.ts'
import { exampleOf } from './examples.ts'
import { makeSchemas } from './schemas.ts'
import type { Json, Schemas } from './schemas.ts'
import { securityOf, securitySchemes } from './security.ts'
import type { DocumentedService, Surface } from './security.ts'
import { tagOf } from './tags.ts'
import { webhooksOf } from './webhooks.ts'

export type { DocumentedService, Surface } from './security.ts'

/** The version of the Open Banking API's document (contract §Versioning). */
const OPEN_BANKING_VERSION = '1.0.0'

const INFO = {
  a: {
    title: 'svc Open Banking API',
    version: OPEN_BANKING_VERSION,
    description:
      'Accounts, payments, recurring payments, requests and offers to pay of a bank’s customers. Amounts are decimal strings. ' +
      'Members may be added at any time: ignore those that you do not know.',
  },
  b: {
    title: 'svc payment acquiring API',
    version: packageVersion(),
    description:
      'Account-to-account payments for merchants, their payers and the operators of the platform. Amounts are decimal ' +
      'strings. Requests with an idempotency key are safe to repeat. Members may be added at any time: ignore those that ' +
      'you do not know. What happens to a payment is also sent as a webhook.',
  },
} as const

/** What makes one document: the service that it is of, its surface, and the schemas of its operations. */
type Making = { service: DocumentedService; surface: Surface; schemas: Schemas }

/** The OpenAPI 3.1 document of a surface, generated from the operations' declarations. */
export function openApiDocument({ publicUrl, config, identity }: DocumentedService, surface: Surface): Json {
  const service = { publicUrl, config, identity }
  const operations = routesOf(config.mode)
    .map(({ operation }) => operation)
    .filter(({ path }) => isOpenBanking(path) === (surface === 'a'))
  const others = surface === 'a' ? [ErrorResponse] : [ErrorBody, ...EventType.options.map(payloadOf)]
  const schemas = makeSchemas(operations, others)
  const making = { service, surface, schemas }
  const paths: Record<string, Json> = {}
  for (const operation of operations)
    paths[operation.path] = {
      ...paths[operation.path],
      [operation.method.toLowerCase()]: describeOperation(operation, making),
    }
  const used = new Set([...JSON.stringify(paths).matchAll(/components\/headers\/([\w-]+)/g)].map(([, name]) => name))
  const tags = new Map(operations.map(({ path }) => tagOf(path)).map((tag) => [tag.name, tag]))
  return {
    openapi: '3.1.0',
    info: { ...INFO[surface], license: { name: 'Proprietary', identifier: 'LicenseRef-svc' } },
    servers: [{ url: publicUrl, description: `This service, in ${config.mode} mode` }],
    tags: [...tags.values()].toSorted((a, b) => (a.name < b.name ? -1 : 1)),
    paths,
    ...(surface === 'b' ? { webhooks: webhooksOf(schemas) } : {}),
    components: {
      schemas: schemas.components,
      headers: Object.fromEntries(Object.entries(HEADERS).filter(([name]) => used.has(name))),
      examples: examplesOfErrors(operations, making),
      securitySchemes: securitySchemes(service, surface),
    },
  }
}

const HEADERS = {
  'X-Request-Id': header('The id of the request, for support: that of the request, or a new one.'),
  'X-Fapi-Interaction-Id': header('The id of the request, or a new one where the request has none.'),
  Location: header('The address of the created resource.'),
  Link: header('With CSV, the address of the next page (rel="next"); absent on the last.'),
  'X-Next-Cursor': header('With CSV, the cursor of the next page; absent on the last.'),
  'Retry-After': header('After how many seconds to try again.'),
  'WWW-Authenticate': header('The scheme of the credentials, and what is wrong with them (RFC 6750).'),
  Deprecation: header('Since when the operation is deprecated (RFC 9745).'),
  Sunset: header('When the operation will be gone (RFC 8594).'),
}

function header(description: string): Json {
  return { description, schema: { type: 'string' } }
}

function withHeaders(names: readonly string[]): Json {
  if (names.length === 0) return {}
  return { headers: Object.fromEntries(names.map((name) => [name, { $ref: `#/components/headers/${name}` }])) }
}

function describeOperation(operation: Operation, making: Making): Json {
  const { schemas } = making
  const needsKey = operation.errors.includes('IDEMPOTENCY_KEY_MISSING')
  return {
    operationId: operation.name,
    summary: operation.summary,
    description: descriptionOf(operation),
    tags: [tagOf(operation.path).name],
    ...(operation.deprecated === undefined ? {} : { deprecated: true }),
    security: securityOf(operation, making.service),
    parameters: [
      ...parameters(schemas, operation.params, 'path'),
      ...parameters(schemas, operation.query, 'query'),
      ...parameters(schemas, operation.headers, 'header', (name) => name === 'x-idempotency-key' && needsKey),
    ],
    ...(hasBody(operation) ? { requestBody: requestBody(operation, schemas) } : {}),
    responses: {
      ...Object.fromEntries(
        Object.keys(operation.replies).map((status) => [status, success(operation, status, schemas)]),
      ),
      ...errorReplies(operation, making),
    },
  }
}

/** What the declaration says, and what follows from it. */
function descriptionOf(operation: Operation): string {
  const { summary, description, scopes, dryRun } = operation
  const permissions = permissionsOfOperation(operation).map(
    (permission) => `Needs the permission to ${permission}: ${rolesWith(permission).join(', ')}.`,
  )
  return [
    description ?? `${summary}.`,
    ...permissions,
    ...(scopes === undefined ? [] : [`Needs one of the scopes ${scopes.join(', ')}.`]),
    ...(dryRun === true ? ['With `dry_run=true` it answers as usual and changes nothing.'] : []),
  ].join(' ')
}

function requestBody({ body, bodyWithCheckoutToken: other, bodyOptional }: Operation, schemas: Schemas): Json {
  const whole = schemas.ref(body, 'input')
  const schema = other === undefined ? whole : { anyOf: [whole, schemas.ref(other, 'input')] }
  return { required: bodyOptional !== true, content: { 'application/json': media(schema, schemas, 'input') } }
}

function media(schema: Json, { components }: Schemas, io: 'input' | 'output'): Json {
  return { schema, example: exampleOf(schema, components, io) }
}

/** The response of a success, with its headers. */
function success(operation: Operation, status: string, schemas: Schemas): Json {
  const isOfA = isOpenBanking(operation.path)
  const headers = withHeaders([
    'X-Request-Id',
    ...(isOfA ? ['X-Fapi-Interaction-Id'] : []),
    ...(isOfA && status === '201' ? ['Location'] : []),
    ...(operation.csv === true ? ['Link', 'X-Next-Cursor'] : []),
    ...(operation.deprecated === undefined ? [] : ['Deprecation', 'Sunset']),
  ])
  if (status === '204') return { description: 'Done', ...headers }
  if (operation.stream !== undefined) return { ...eventsOf(operation.stream, schemas), ...headers }
  const reply = operation.replies[Number(status)]
  if (reply === undefined) throw new Error(`${operation.name} has no reply ${status}`)
  const json = media(schemas.ref(reply, 'output'), schemas, 'output')
  const csv = operation.csv === true ? { 'text/csv': { schema: { type: 'string' } } } : {}
  return { description: SUCCESSES[status] ?? 'Success', ...headers, content: { 'application/json': json, ...csv } }
}

const SUCCESSES: Readonly<Record<string, string>> = {
  200: 'Success',
  201: 'Created',
  202: 'Accepted: it is not complete yet',
}

/**
 * Server-sent events: OpenAPI 3.1 cannot describe the items of a stream, so the schema is that of one frame's data, and
 * its title is the frame's event.
 */
function eventsOf(stream: NonNullable<Operation['stream']>, { ref }: Schemas): Json {
  const frames = Object.entries(stream).map(([title, schema]) => ({ title, ...ref(schema, 'output') }))
  return { description: 'Server-sent events', content: { 'text/event-stream': { schema: { oneOf: frames } } } }
}

function errorReplies(operation: Operation, { surface, schemas }: Making): Json {
  const byStatus = Map.groupBy(new Set(errorsOf(operation)), statusOf(surface))
  const isOfA = surface === 'a'
  const schema = schemas.ref(isOfA ? ErrorResponse : ErrorBody, 'output')
  const entries = [...byStatus].toSorted(([a], [b]) => a - b)
  return Object.fromEntries(
    entries.map(([status, codes]) => [
      status,
      {
        description: codes.map((code) => `${code}: ${ERROR_TEXTS[code].meaning}`).join('\n'),
        ...withHeaders([
          'X-Request-Id',
          ...(isOfA ? ['X-Fapi-Interaction-Id'] : []),
          ...(status === 401 ? ['WWW-Authenticate'] : []),
          ...(status === 429 || status === 503 ? ['Retry-After'] : []),
        ]),
        content: {
          'application/json': {
            schema,
            examples: Object.fromEntries(codes.map((code) => [code, { $ref: `#/components/examples/${code}` }])),
          },
        },
      },
    ]),
  )
}

function statusOf(surface: Surface): (code: ErrorCode) => number {
  return surface === 'a' ? openBankingStatus : (code) => ERROR_STATUS[code]
}

/** What each error looks like. */
function examplesOfErrors(operations: readonly Operation[], { service, surface }: Making): Json {
  const codes = [...new Set(operations.flatMap((operation) => errorsOf(operation)))].toSorted()
  const request = { publicUrl: service.publicUrl, requestId: '0199d5a4-7c1e-7c3a-9b52-3f1d2c4b5a69' }
  return Object.fromEntries(
    codes.map((code) => {
      const { meaning, next } = ERROR_TEXTS[code]
      const error = new DomainError(code, meaning, { next })
      const value =
        surface === 'a'
          ? openBankingError(error, { ...request, id: request.requestId })
          : errorBody(error, { ...request, status: ERROR_STATUS[code] })
      return [code, { summary: meaning, value }]
    }),
  )
}

/** `mustBeSent` names required members that the schema has as optional, so that their absence has an error code of its own. */
function parameters(
  schemas: Schemas,
  schema: Operation['query'],
  place: 'path' | 'query' | 'header',
  mustBeSent = (_name: string): boolean => false,
): Json[] {
  const { properties, required } = schemas.members(schema)
  return Object.entries(properties).map(([name, { description, ...member }]) => ({
    name: place === 'header' ? headerName(name) : name,
    in: place,
    required: place === 'path' || required.includes(name) || mustBeSent(name),
    ...(description === undefined ? {} : { description }),
    schema: member,
  }))
}

function headerName(name: string): string {
  return name.replaceAll(/(^|-)([a-z])/g, (_, dash: string, letter: string) => `${dash}${letter.toUpperCase()}`)
}
