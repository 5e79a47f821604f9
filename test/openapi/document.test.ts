import { once } from 'node:events'
import { createServer } from 'node:http'
import { gunzipSync } from 'node:zlib'
import t from 'tap'
import { request } from 'undici'
import { z } from 'zod'
import type { App } from '../../src/app.ts'
import { serveDescription } from '../../src/http/api-description.ts'
import { ERROR_STATUS } from '../../src/http/error-status.ts'
import { ROUTES, SANDBOX_ROUTES } from '../../src/http/routes.ts'
import type { ErrorCode } from '../../src/lib/errors.ts'
import { NoBody } from '../../src/wire/common.ts'
import { createPayment, paymentBody, testService } from '../support/app.ts'

const Json = z.record(z.string(), z.unknown())
const MediaType = z.strictObject({
  schema: Json,
  example: z.unknown().optional(),
  examples: z.record(z.string(), z.strictObject({ $ref: z.string() })).optional(),
})
const Response = z.strictObject({
  description: z.string().min(1),
  headers: z.record(z.string(), z.strictObject({ $ref: z.string() })),
  // A 204 has none.
  content: z
    .strictObject({
      'application/json': MediaType.optional(),
      'text/csv': MediaType.optional(),
      'text/event-stream': MediaType.optional(),
    })
    .optional(),
})
const Parameter = z.strictObject({
  name: z.string(),
  in: z.enum(['path', 'query', 'header']),
  required: z.boolean(),
  description: z.string().min(1),
  schema: Json,
})
const DocumentedOperation = z.strictObject({
  operationId: z.string().regex(/^[a-z][A-Za-z]+$/),
  summary: z.string().min(10),
  description: z.string().min(10),
  tags: z.array(z.string()).length(1),
  security: z.array(z.record(z.string(), z.array(z.string()))),
  parameters: z.array(Parameter),
  requestBody: z
    .strictObject({ required: z.boolean(), content: z.strictObject({ 'application/json': MediaType }) })
    .optional(),
  responses: z.record(z.string().regex(/^[2-5]\d\d$/), Response),
})
/** What OpenAPI 3.1 asks of the parts that we use. */
const Document = z.strictObject({
  openapi: z.literal('3.1.0'),
  info: z.strictObject({
    title: z.string(),
    version: z.string().regex(/^\d+\.\d+\.\d+/),
    description: z.string().min(50),
    license: z.strictObject({ name: z.string(), identifier: z.string() }),
  }),
  servers: z.array(z.strictObject({ url: z.url(), description: z.string().min(1) })).min(1),
  tags: z.array(z.strictObject({ name: z.string(), description: z.string().min(20) })),
  paths: z.record(
    z.string().regex(/^\/[^?#]*$/),
    z.partialRecord(z.enum(['get', 'post', 'put', 'delete']), DocumentedOperation),
  ),
  webhooks: z.record(z.string(), z.strictObject({ post: Json })).optional(),
  components: z.strictObject({
    schemas: z.record(z.string(), Json),
    headers: z.record(z.string(), z.strictObject({ description: z.string().min(1), schema: Json })),
    examples: z.record(z.string(), z.strictObject({ summary: z.string().min(1), value: Json })),
    securitySchemes: z.record(z.string(), Json),
  }),
})

const service = await testService(t)
const { body, status } = await service.call('GET', '/openapi.json')
const surfaceB = Document.parse(body)
const surfaceA = Document.parse((await service.call('GET', '/open-banking/v1/openapi.json')).body)
/** Both, for what holds of every operation. */
const document = {
  ...surfaceB,
  paths: { ...surfaceB.paths, ...surfaceA.paths },
  components: {
    ...surfaceB.components,
    securitySchemes: { ...surfaceB.components.securitySchemes, ...surfaceA.components.securitySchemes },
  },
}
const operations = [...ROUTES, ...SANDBOX_ROUTES].map((row) => row.operation)

/** A schema, or that which it refers to. */
function resolved(schema: unknown, of = surfaceB): Record<string, unknown> {
  const found = Json.parse(schema)
  const name = /^#\/components\/schemas\/(\w+)$/.exec(String(found['$ref']))?.[1]
  return name === undefined ? found : Json.parse(of.components.schemas[name])
}

function documented(operation: (typeof operations)[number]): z.infer<typeof DocumentedOperation> {
  const found = document.paths[operation.path]?.[operation.method.toLowerCase() as 'get']
  if (found === undefined) throw new Error(`${operation.name} is not in the document`)
  return found
}

t.test(
  'the document is sent compressed to clients that accept that, and not again to those that have it',
  async (t) => {
    const ask = (headers: Record<string, string>) => request(`${service.app.publicUrl}/openapi.json`, { headers })
    const plain = await ask({ 'accept-encoding': 'gzip;q=0' })
    t.equal(plain.headers['content-encoding'], undefined)
    const text = await plain.body.text()
    t.same(JSON.parse(text), body)
    const compressed = await ask({ 'accept-encoding': 'br, gzip' })
    t.equal(compressed.headers['content-encoding'], 'gzip')
    t.equal(compressed.headers['vary'], 'accept-encoding')
    const bytes = Buffer.from(await compressed.body.arrayBuffer())
    t.equal(gunzipSync(bytes).toString(), text)
    t.ok(bytes.length * 5 < text.length, `${bytes.length} of ${text.length} bytes`)
    const etag = String(plain.headers['etag'])
    for (const held of [etag, `"other", ${etag}`, etag.replace('W/', ''), '*']) {
      const again = await ask({ 'if-none-match': held })
      t.equal(again.statusCode, 304, held)
      t.equal(await again.body.text(), '')
    }
    const other = await ask({ 'if-none-match': '"other"' })
    t.equal(other.statusCode, 200)
    await other.body.dump()
  },
)

t.test('the document is made once, however many ask at the same time', async (t) => {
  let asked = 0
  const app: App = Object.create(service.app, {
    publicUrl: {
      get: () => {
        asked += 1
        return service.app.publicUrl
      },
    },
  })
  const serve = serveDescription(app, ({ publicUrl }) => ({ publicUrl }))
  const server = createServer((req, res) => void serve(req, res)).listen(0, '127.0.0.1')
  t.teardown(() => server.close())
  await once(server, 'listening')
  const { port } = z.object({ port: z.number() }).parse(server.address())
  for (let round = 0; round < 2; round += 1)
    await Promise.all(Array.from({ length: 5 }, async () => (await request(`http://127.0.0.1:${port}`)).body.dump()))
  t.equal(asked, 1)
})

t.test('the document is served, and names where it is served', async (t) => {
  t.equal(status, 200)
  t.equal(document.servers[0]?.url, service.app.publicUrl)
})

t.test('each surface has a document of its own, in its own version and with its own errors', async (t) => {
  t.ok(Object.keys(surfaceA.paths).every((path) => path.startsWith('/open-banking/v1/')))
  t.ok(Object.keys(surfaceB.paths).every((path) => path.startsWith('/api/v1/')))
  t.equal(surfaceA.info.version, '1.0.0')
  t.same(Object.keys(surfaceA.components.securitySchemes), ['customerId'])
  for (const methods of Object.values(surfaceA.paths))
    for (const { responses } of Object.values(methods)) {
      const [status] = Object.keys(responses)
      const names = Object.keys(responses[status ?? '']?.headers ?? {})
      t.same(names, ['X-Request-Id', 'X-Fapi-Interaction-Id', ...(status === '201' ? ['Location'] : [])])
    }
  t.match(surfaceA.components.schemas['ErrorResponse'], { required: ['Code', 'Id', 'Message', 'Errors'] })
  t.match(surfaceB.components.schemas['ErrorBody'], { properties: { error: {} } })
})

t.test('it has every operation of the route table and no other, each under a name of its own', async (t) => {
  const ids = Object.values(document.paths).flatMap((methods) =>
    Object.values(methods).map((each) => each?.operationId),
  )
  t.same(ids.toSorted(), operations.map(({ name }) => name).toSorted())
  t.equal(new Set(ids).size, ids.length)
  t.equal(new Set(operations.map(({ method, path }) => `${method} ${path}`)).size, operations.length)
})

t.test('every reference leads somewhere', async (t) => {
  for (const whole of [surfaceA, surfaceB]) {
    const text = JSON.stringify(whole)
    const references = new Set([...text.matchAll(/"\$ref":"([^"]+)"/g)].map((match) => match[1] ?? ''))
    t.ok(references.size > 10)
    for (const reference of references) {
      t.ok(reference.startsWith('#/components/'), reference)
      const target = reference
        .slice(2)
        .split('/')
        .reduce<unknown>((node, name) => Json.safeParse(node).data?.[name], whole)
      t.type(target, 'object', reference)
    }
    t.notMatch(text, /"\$(defs|schema|id)"/, 'no schema brings definitions of its own')
    for (const kind of ['schemas', 'headers', 'examples'] as const)
      for (const name of Object.keys(whole.components[kind]))
        t.ok(references.has(`#/components/${kind}/${name}`), `${kind} ${name} is used`)
  }
})

t.test('path parameters are those of the path and of the schema', async (t) => {
  for (const operation of operations) {
    const inPath = [...operation.path.matchAll(/\{(\w+)\}/g)].map((match) => match[1])
    const described = documented(operation).parameters.filter((each) => each.in === 'path')
    t.same(
      described.map(({ name }) => name),
      inPath,
      operation.name,
    )
    t.ok(described.every(({ required }) => required))
    const known = operation.params.safeParse(Object.fromEntries(inPath.map((name) => [name, 'x'])))
    t.ok(known.success, `${operation.name}: the params schema has these parameters and no other`)
    if (inPath.length > 0) t.notOk(operation.params.safeParse({}).success)
  }
})

t.test('every success and every failure that is declared is described', async (t) => {
  for (const operation of operations) {
    const { responses } = documented(operation)
    const isOfSurfaceA = operation.access.includes('customer')
    // There a key that was used with another body is a conflict (decision 12).
    const errors = operation.errors.map((code) =>
      isOfSurfaceA && code === 'IDEMPOTENCY_KEY_REUSED' ? 409 : ERROR_STATUS[code],
    )
    for (const expected of [...Object.keys(operation.replies), ...errors, 400, 500, 503])
      t.ok(responses[String(expected)], `${operation.name} ${expected}`)
    for (const [code, { content }] of Object.entries(responses)) {
      if (Number(code) < 400) continue
      const name = isOfSurfaceA ? 'ErrorResponse' : 'ErrorBody'
      t.match(content?.['application/json'], { schema: { $ref: `#/components/schemas/${name}` }, examples: {} })
    }
  }
})

t.test('operations with CSV declare it, and no others', async (t) => {
  t.same(
    operations.filter(({ csv }) => csv === true).map(({ name }) => name),
    [
      'listTransactions',
      'listSettlements',
      'getSettlement',
      'listSettlementLines',
      'listStatementLines',
      'listUnmatchedMovements',
      'listAdminSettlements',
      'listAdminSettlementLines',
    ],
  )
  for (const operation of operations)
    for (const [code, { content, headers }] of Object.entries(documented(operation).responses)) {
      const isCsv = operation.csv === true && code === '200'
      t.same(content?.['text/csv']?.schema, isCsv ? { type: 'string' } : undefined, `${operation.name} ${code}`)
      const own = Object.keys(headers).filter((name) => ['Link', 'X-Next-Cursor'].includes(name))
      t.same(own, isCsv ? ['Link', 'X-Next-Cursor'] : [])
    }
})

t.test('every code has a status in the hundreds that it belongs to', async (t) => {
  const declared = new Set(operations.flatMap(({ errors }) => errors))
  for (const code of declared) t.ok(ERROR_STATUS[code] >= 400 && ERROR_STATUS[code] < 600, code)
  t.same(
    Object.entries(ERROR_STATUS).filter(([code]) => !/^[A-Z]+(_[A-Z]+)*$/.test(code)),
    [],
  )
})

/** Codes that no single operation declares, for any of them can answer with it; and why one is declared nowhere. */
const COMMON: readonly ErrorCode[] = [
  'INVALID_JSON',
  'VALIDATION_FAILED',
  'UNSUPPORTED_MEDIA_TYPE',
  'BODY_TOO_LARGE',
  'RATE_LIMITED',
  'UNAUTHENTICATED',
  'TOKEN_EXPIRED',
  'UNKNOWN_CLIENT',
  'FORBIDDEN_ROLE',
  'HTTPS_REQUIRED',
  'WRONG_REALM',
  'FORBIDDEN_SCOPE',
  'INSUFFICIENT_USER_AUTHENTICATION',
  'NOT_ACCEPTABLE',
  'CHECKOUT_TOKEN_INVALID',
  'CHECKOUT_TOKEN_EXPIRED',
  'CHECKOUT_ORIGIN_NOT_ALLOWED',
  // Of an address rather than of an operation.
  'METHOD_NOT_ALLOWED',
  'SERVICE_UNAVAILABLE',
  'INTERNAL_ERROR',
]

t.test('no code is left that no operation can answer', async (t) => {
  const declared = new Set<string>([...COMMON, ...operations.flatMap(({ errors }) => errors)])
  t.same(
    Object.keys(ERROR_STATUS).filter((code) => !declared.has(code) && code !== 'MERCHANT_NOT_FOUND'),
    [],
  )
})

t.test('every operation says which credential it takes', async (t) => {
  for (const operation of operations) {
    const { security } = documented(operation)
    // The sandbox's name may be left out, which is one way more.
    const ways = operation.access.flatMap((access) => (access === 'sandbox' ? ['named', 'unnamed'] : [access]))
    t.equal(security.length, ways.length)
    for (const name of security.flatMap((each) => Object.keys(each)))
      t.ok(document.components.securitySchemes[name], name)
    if (operation.access.includes('merchant')) t.match(security, [{ merchantClientId: [] }])
  }
})

t.test('requests with a body describe it and its errors', async (t) => {
  for (const operation of operations) {
    const { requestBody, responses } = documented(operation)
    t.equal(requestBody !== undefined, operation.body !== NoBody, operation.name)
    if (operation.method === 'POST' || operation.method === 'PUT') t.ok(requestBody, operation.name)
    if (requestBody === undefined) continue
    t.equal(requestBody?.required, operation.bodyOptional !== true)
    for (const code of ['413', '415']) t.ok(responses[code], `${operation.name} ${code}`)
  }
})

t.test('the amount, the key and the page size are described as they are checked', async (t) => {
  const create = document.paths['/api/v1/payments']?.post
  const schema = z
    .looseObject({ properties: Json, required: z.array(z.string()), additionalProperties: z.literal(false) })
    .parse(
      resolved(
        z.object({ anyOf: z.array(z.unknown()) }).parse(create?.requestBody?.content['application/json'].schema)
          .anyOf[0],
      ),
    )
  t.match(schema.properties['amount'], { type: 'string', pattern: String.raw`^\d{1,13}(\.\d{1,4})?$` })
  t.same(schema.required.toSorted(), ['amount', 'currency'])
  t.match(
    create?.parameters.find(({ name }) => name === 'X-Idempotency-Key'),
    { in: 'header', required: true },
  )
  const limit = document.paths['/api/v1/payments']?.get?.parameters.find(({ name }) => name === 'limit')
  t.match(limit, { required: false, schema: { type: 'integer', minimum: 1, maximum: 100, default: 50 } })
})

t.test('responses of the API have the described members', async (t) => {
  const merchant = await service.merchant()
  const { body: payment } = await createPayment(service, merchant)
  const names = (path: string, method: 'get' | 'post', code: string): string[] => {
    const schema = document.paths[path]?.[method]?.responses[code]?.content?.['application/json']?.schema
    return Object.keys(Json.parse(resolved(schema)['properties'])).toSorted()
  }
  // The payer's capability is for a payer's browser alone.
  const answered = names('/api/v1/payments', 'post', '201').filter((name) => name !== 'payment_state')
  t.same(answered, Object.keys(payment).toSorted())
  const list = await service.call('GET', '/api/v1/payments', { merchant })
  t.same(names('/api/v1/payments', 'get', '200'), Object.keys(list.body).toSorted())
  const refused = await service.call('POST', '/api/v1/payments', {
    merchant,
    body: paymentBody({ amount: 1 }),
    headers: { 'x-idempotency-key': 'k' },
  })
  const described = Object.keys(Json.parse(document.components.schemas['ErrorBody']?.['properties']))
  for (const name of Object.keys(refused.body)) t.ok(described.includes(name), name)
})
