import { z } from 'zod'
import type { Config } from './config/config.ts'
import { ERROR_STATUS } from './http/error-status.ts'
import { isOpenBanking, openBankingStatus } from './http/open-banking-errors.ts'
import { routesOf } from './http/routes.ts'
import type { IdentityProvider } from './identity/provider.ts'
import type { ErrorCode } from './lib/errors.ts'
import { CUSTOMERS_REALM, PLATFORM_REALM, issuerOf } from './lib/realms.ts'
import { packageVersion } from './lib/package-root.ts'
import { ErrorBody } from './wire/common.ts'
import { ErrorResponse } from './wire/open-banking.ts'
import { errorsOf, hasBody } from './wire/operation.ts'
import type { Access, Operation } from './wire/operation.ts'

type Json = Record<string, unknown>

type Security = Readonly<Record<Access, readonly Json[]>>

const BY_HEADERS: Security = {
  merchant: [{ merchantClientId: [] }],
  platform: [{ platformUser: [] }],
  customer: [{ customerId: [] }],
  'payment-state': [{ paymentState: [] }],
  'checkout-token': [{ checkoutToken: [] }],
  payer: [{ payerSession: [] }],
  bank: [{}],
  // The name may be left out.
  sandbox: [{ platformUser: [] }, {}],
  anyone: [{}],
}

const BY_TOKENS: Security = {
  ...BY_HEADERS,
  merchant: [{ merchantToken: [] }],
  platform: [{ platformToken: [] }],
  customer: [{ customerToken: [] }],
  sandbox: [{ platformToken: [] }],
}

/** The version of the Open Banking API's document (contract §Versioning). */
const OPEN_BANKING_VERSION = '1.0.0'

/** The settings of the service that the document shows. */
export type DocumentedService = {
  publicUrl: string
  config: Pick<Config, 'mode'>
  identity: Pick<IdentityProvider, 'kind' | 'authUrl'>
}

/** The two surfaces of the service: the Open Banking API, and payment acquiring (contract §Versioning). */
export type Surface = 'a' | 'b'

/** The OpenAPI 3.1 document of a surface, generated from the operations' declarations. */
export function openApiDocument({ publicUrl, config, identity }: DocumentedService, surface: Surface): Json {
  const { mode } = config
  const security = identity.kind === 'none' ? BY_HEADERS : BY_TOKENS
  const paths: Record<string, Json> = {}
  for (const { operation } of routesOf(mode)) {
    if (isOpenBanking(operation.path) !== (surface === 'a')) continue
    paths[operation.path] = {
      ...paths[operation.path],
      [operation.method.toLowerCase()]: describe(operation, security),
    }
  }
  return {
    openapi: '3.1.0',
    info:
      surface === 'a'
        ? { title: 'svc Open Banking API', version: OPEN_BANKING_VERSION }
        : { title: 'svc payment acquiring API', version: packageVersion() },
    servers: [{ url: publicUrl }],
    paths,
    components: {
      schemas: { Error: schemaOf(surface === 'a' ? ErrorResponse : ErrorBody, 'output') },
      securitySchemes: {
        ...schemesOf(surface, identity.authUrl === null ? HEADER_SCHEMES : tokenSchemes(identity.authUrl)),
      },
    },
  }
}

/** The security schemes of a surface: Surface A has customers' credentials, Surface B all others. */
function schemesOf(surface: Surface, { customerId, customerToken, ...others }: Json): Json {
  if (surface === 'b') return { ...others, ...BROWSER_SCHEMES }
  return customerToken === undefined ? { customerId } : { customerToken }
}

/** Credentials of payers' browsers, whatever the identity provider. */
const BROWSER_SCHEMES: Json = {
  paymentState: { type: 'apiKey', in: 'header', name: 'X-Payment-State' },
  checkoutToken: { type: 'apiKey', in: 'header', name: 'X-Checkout-Token' },
  payerSession: { type: 'http', scheme: 'bearer', bearerFormat: 'JWT' },
}

const HEADER_SCHEMES: Json = {
  merchantClientId: { type: 'apiKey', in: 'header', name: 'X-Merchant-Client-Id' },
  platformUser: { type: 'apiKey', in: 'header', name: 'X-Platform-User' },
  customerId: { type: 'apiKey', in: 'header', name: 'X-Customer-Id' },
}

/** Every merchant has an issuer of its own, so its scheme only describes where to find it; the platform's is known. */
function tokenSchemes(authUrl: string): Json {
  return {
    merchantToken: {
      type: 'http',
      scheme: 'bearer',
      bearerFormat: 'JWT',
      description: `An access token of the merchant's realm. Its discovery document is at ${discoveryOf(authUrl, '<realm>')}.`,
    },
    platformToken: { type: 'openIdConnect', openIdConnectUrl: discoveryOf(authUrl, PLATFORM_REALM) },
    customerToken: { type: 'openIdConnect', openIdConnectUrl: discoveryOf(authUrl, CUSTOMERS_REALM) },
  }
}

function discoveryOf(authUrl: string, realm: string): string {
  return `${issuerOf(authUrl, realm)}/.well-known/openid-configuration`
}

function describe(operation: Operation, security: Security): Json {
  const whole = schemaOf(operation.body, 'input')
  const { bodyWithCheckoutToken: ofToken } = operation
  const body = ofToken === undefined ? whole : { anyOf: [whole, schemaOf(ofToken, 'input')] }
  const needsKey = operation.errors.includes('IDEMPOTENCY_KEY_MISSING')
  return {
    operationId: operation.name,
    summary: operation.summary,
    ...(operation.description === undefined ? {} : { description: operation.description }),
    security: operation.access
      .flatMap((access) => security[access])
      .flatMap((requirement) => withScopes(operation, requirement)),
    parameters: [
      ...parameters(operation.params, 'path'),
      ...parameters(operation.query, 'query'),
      ...parameters(operation.headers, 'header', (name) => name === 'x-idempotency-key' && needsKey),
    ],
    ...(hasBody(operation)
      ? {
          requestBody: { required: operation.bodyOptional !== true, content: { 'application/json': { schema: body } } },
        }
      : {}),
    responses: {
      ...Object.fromEntries(
        Object.entries(operation.replies).map(([status, schema]) => [status, success(operation, { status, schema })]),
      ),
      ...errorReplies(errorsOf(operation), isOpenBanking(operation.path) ? openBankingStatus : surfaceBStatus),
    },
  }
}

/** One scope is enough, so each is an alternative of its own. Trusted headers have no scopes. */
function withScopes({ scopes = [] }: Operation, requirement: Json): Json[] {
  return 'customerToken' in requirement ? scopes.map((scope) => ({ customerToken: [scope] })) : [requirement]
}

function surfaceBStatus(code: ErrorCode): number {
  return ERROR_STATUS[code]
}

function errorReplies(codes: readonly ErrorCode[], statusOf: (code: ErrorCode) => number): Json {
  const byStatus = Map.groupBy(new Set(codes), statusOf)
  const entries = [...byStatus].toSorted(([a], [b]) => a - b)
  return Object.fromEntries(
    entries.map(([status, names]) => [status, reply({ $ref: '#/components/schemas/Error' }, names.join(', '))]),
  )
}

function reply(schema: Json, description: string): { description: string; content: Json } {
  return { description, content: { 'application/json': { schema } } }
}

/** The response of a success; on Surface A with its headers. */
function success(operation: Operation, { status, schema }: { status: string; schema: z.ZodType }): Json {
  const answer =
    status === '204'
      ? { description: 'Done' }
      : (eventsOf(operation) ?? withCsv(operation, reply(schemaOf(schema, 'output'), 'Success')))
  if (!isOpenBanking(operation.path)) return answer
  const text = { type: 'string' }
  return {
    ...answer,
    headers: {
      'X-Fapi-Interaction-Id': {
        description: 'The id of the request, or a new one where the request has none',
        schema: text,
      },
      ...(status === '201' ? { Location: { description: 'The address of the created resource', schema: text } } : {}),
    },
  }
}

/**
 * Server-sent events: OpenAPI 3.1 cannot describe the items of a stream, so the schema is that of one frame's data, and
 * its title is the frame's event.
 */
function eventsOf({ stream }: Operation): ReturnType<typeof reply> | undefined {
  if (stream === undefined) return undefined
  const frames = Object.entries(stream).map(([title, schema]) => ({ title, ...schemaOf(schema, 'output') }))
  return { description: 'Server-sent events', content: { 'text/event-stream': { schema: { oneOf: frames } } } }
}

/** A list that is also served as CSV has the cursor of its next page in headers. */
function withCsv({ csv }: Operation, answer: ReturnType<typeof reply>): Json {
  if (csv !== true) return answer
  const text = { type: 'string' }
  return {
    ...answer,
    headers: {
      Link: { description: 'With CSV, the address of the next page (rel="next"); absent on the last', schema: text },
      'X-Next-Cursor': { description: 'With CSV, the cursor of the next page; absent on the last', schema: text },
    },
    content: { ...answer.content, 'text/csv': { schema: text } },
  }
}

/** `mustBeSent` names required members that the schema has as optional, so that their absence has an error code of its own. */
function parameters(
  schema: z.ZodType,
  place: 'path' | 'query' | 'header',
  mustBeSent = (_name: string): boolean => false,
): Json[] {
  const { properties, required } = z
    .object({
      properties: z.record(z.string(), z.unknown()).default({}),
      required: z.array(z.string()).default([]),
    })
    .parse(schemaOf(schema, 'input'))
  return Object.entries(properties).map(([name, member]) => ({
    name: place === 'header' ? headerName(name) : name,
    in: place,
    required: place === 'path' || required.includes(name) || mustBeSent(name),
    schema: member,
  }))
}

function headerName(name: string): string {
  return name.replaceAll(/(^|-)([a-z])/g, (_, dash: string, letter: string) => `${dash}${letter.toUpperCase()}`)
}

function schemaOf(schema: z.ZodType, io: 'input' | 'output'): Json {
  const { $schema: _, ...rest } = z.toJSONSchema(schema, { io, target: 'draft-2020-12', unrepresentable: 'any' })
  return rest
}
