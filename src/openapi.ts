import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { z } from 'zod'
import { packageRoot } from './db/package-root.ts'
import { ERROR_STATUS } from './http/error-status.ts'
import { routesOf } from './http/routes.ts'
import type { ErrorCode } from './lib/errors.ts'
import { ErrorBody } from './wire/common.ts'
import { errorsOf, hasBody } from './wire/operation.ts'
import type { Access, Operation } from './wire/operation.ts'

type Json = Record<string, unknown>

const SECURITY: Readonly<Record<Access, Json | Json[]>> = {
  merchant: { merchantClientId: [] },
  'payment-state': { paymentState: [] },
  bank: {},
  // The name may be left out.
  sandbox: [{ platformUser: [] }, {}],
  anyone: {},
}

/** The OpenAPI 3.1 description of Surface B, made from the operations' own declarations. */
export function openApiDocument(serverUrl: string, mode: 'sandbox' | 'live'): Json {
  const paths: Record<string, Json> = {}
  for (const { operation } of routesOf(mode)) {
    paths[operation.path] = { ...paths[operation.path], [operation.method.toLowerCase()]: describe(operation) }
  }
  return {
    openapi: '3.1.0',
    info: { title: 'svc payment acquiring API', version: version() },
    servers: [{ url: serverUrl }],
    paths,
    components: {
      schemas: { Error: schemaOf(ErrorBody, 'output') },
      securitySchemes: {
        merchantClientId: { type: 'apiKey', in: 'header', name: 'X-Merchant-Client-Id' },
        platformUser: { type: 'apiKey', in: 'header', name: 'X-Platform-User' },
        paymentState: { type: 'apiKey', in: 'header', name: 'X-Payment-State' },
      },
    },
  }
}

function describe(operation: Operation): Json {
  const body = schemaOf(operation.body, 'input')
  const needsKey = operation.errors.includes('IDEMPOTENCY_KEY_MISSING')
  return {
    operationId: operation.name,
    summary: operation.summary,
    security: operation.access.flatMap((access) => SECURITY[access]),
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
        Object.entries(operation.replies).map(([status, schema]) => [
          status,
          reply(schemaOf(schema, 'output'), 'Success'),
        ]),
      ),
      ...errorReplies(errorsOf(operation)),
    },
  }
}

function errorReplies(codes: readonly ErrorCode[]): Json {
  const byStatus = Map.groupBy(new Set(codes), (code) => ERROR_STATUS[code])
  const entries = [...byStatus].toSorted(([a], [b]) => a - b)
  return Object.fromEntries(
    entries.map(([status, names]) => [status, reply({ $ref: '#/components/schemas/Error' }, names.join(', '))]),
  )
}

function reply(schema: Json, description: string): Json {
  return { description, content: { 'application/json': { schema } } }
}

/** `mustBeSent` names what the schema leaves out so that its absence has an error code of its own. */
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

function version(): string {
  return z.object({ version: z.string() }).parse(JSON.parse(readFileSync(join(packageRoot(), 'package.json'), 'utf8')))
    .version
}
