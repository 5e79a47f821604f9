import { openApiDocument } from './document.ts'
import type { DocumentedService } from './security.ts'
import type { Json } from './schemas.ts'

/*
 * The API as a Postman collection (format 2.1.0): every operation of both surfaces with an example of its body, and a first
 * payment that can be run as it is. Insomnia, Bruno and newman read the format too.
 */
const FORMAT = 'https://schema.getpostman.com/json/collection/v2.1.0/collection.json'

/** The variable that has the value of a credential, for each security scheme that is sent as a header. */
const CREDENTIALS: Readonly<Record<string, string>> = {
  merchantClientId: 'client_id',
  platformUser: 'operator',
  customerId: 'customer_id',
  merchantToken: 'access_token',
  platformToken: 'operator_token',
  customerToken: 'customer_token',
  payerSession: 'payer_session',
  paymentState: 'payment_state',
  checkoutToken: 'checkout_token',
}

/** Bodies where more is needed than the schema says, or where a value decides what happens next. */
const BODIES: Readonly<Record<string, Json>> = {
  createSandboxMerchant: { name: 'Postman' },
  createPayment: { amount: '50.00', currency: 'GBP', redirect_uri: 'https://shop.example/return' },
  advanceSandboxPayment: { to: 'Settled' },
}

/** What OpenAPI documents say of an operation, as far as a request needs it. */
type Described = {
  operationId: string
  summary: string
  description: string
  tags: [string]
  security: Record<string, string[]>[]
  parameters: { name: string; in: 'path' | 'query' | 'header'; required: boolean; description?: string; schema: Json }[]
  requestBody?: { content: { 'application/json': { example: unknown } } }
}
type Operation = Described & { method: string; path: string }
type Schemes = Record<string, { type: string; name?: string }>

/** The collection of a service, for its mode and its kind of credentials. */
export function postmanCollection(service: DocumentedService): Json {
  const documents = (['b', 'a'] as const).map((surface) => openApiDocument(service, surface))
  const schemes: Schemes = Object.assign(
    {},
    ...documents.map(({ components }) => (components as Json)['securitySchemes']),
  )
  const operations = documents.flatMap(operationsOf)
  const folders = Map.groupBy(operations, ({ tags: [tag] }) => tag)
  const variables = { base_url: service.publicUrl, payment_id: '', ...credentialVariables(schemes) }
  return {
    info: {
      name: 'svc',
      description:
        'Every operation of this service. Fill in the variables that you have, or run the folder "First payment". ' +
        `Made from the descriptions of ${service.publicUrl}.`,
      schema: FORMAT,
    },
    variable: Object.entries(variables).map(([key, value]) => ({ key, value, type: 'string' })),
    item: [
      { name: 'First payment', item: firstPayment(operations, schemes) },
      ...[...folders]
        .toSorted(([a], [b]) => (a < b ? -1 : 1))
        .map(([name, own]) => ({ name, item: own.map((operation) => itemOf(operation, schemes)) })),
    ],
  }
}

function credentialVariables(schemes: Schemes): Record<string, string> {
  const names = Object.keys(schemes).flatMap((scheme) => CREDENTIALS[scheme] ?? [])
  const forToken = 'merchantToken' in schemes ? ['issuer', 'client_id', 'client_secret'] : []
  // Without identities any name is an operator's.
  return Object.fromEntries([...names, ...forToken].map((name) => [name, name === 'operator' ? 'postman' : '']))
}

function operationsOf(document: Json): Operation[] {
  const paths = document['paths'] as Record<string, Record<string, Described>>
  return Object.entries(paths).flatMap(([path, methods]) =>
    Object.entries(methods).map(([method, described]) => ({ ...described, method: method.toUpperCase(), path })),
  )
}

/** The way to a settled payment; with tokens and in live mode to one that waits for its payer. */
function firstPayment(operations: readonly Operation[], schemes: Schemes): Json[] {
  const step = (name: string, ...script: string[]): Json[] =>
    operations.filter(({ operationId }) => operationId === name).map((operation) => itemOf(operation, schemes, script))
  const isTokenNeeded = 'merchantToken' in schemes
  const isSandbox = operations.some(({ operationId }) => operationId === 'advanceSandboxPayment')
  return [
    ...(isTokenNeeded ? [tokenRequest] : step('createSandboxMerchant', status(201), keep('client_id', 'client_id'))),
    ...step('createPayment', status(201), keep('payment_id', 'payment_id')),
    ...(isSandbox && !isTokenNeeded ? step('advanceSandboxPayment', status(200)) : []),
    ...step('getPayment', status(200)),
  ]
}

const status = (expected: number): string =>
  `pm.test('responds with ${expected}', () => { if (pm.response.code !== ${expected}) throw new Error(pm.response.text()) })`
const keep = (variable: string, member: string): string =>
  `pm.collectionVariables.set('${variable}', pm.response.json().${member})`

const tokenRequest: Json = {
  name: 'Get an access token',
  event: [
    { listen: 'test', script: { type: 'text/javascript', exec: [status(200), keep('access_token', 'access_token')] } },
  ],
  request: {
    method: 'POST',
    description:
      'With `issuer`, `client_id` and `client_secret` of the merchant, which registration answers; the token goes into ' +
      '`access_token`, which the other requests send.',
    auth: {
      type: 'basic',
      basic: [
        { key: 'username', value: '{{client_id}}', type: 'string' },
        { key: 'password', value: '{{client_secret}}', type: 'string' },
      ],
    },
    header: [],
    body: { mode: 'urlencoded', urlencoded: [{ key: 'grant_type', value: 'client_credentials' }] },
    url: {
      raw: '{{issuer}}/protocol/openid-connect/token',
      host: ['{{issuer}}'],
      path: ['protocol', 'openid-connect', 'token'],
    },
  },
}

function itemOf(operation: Operation, schemes: Schemes, script?: readonly string[]): Json {
  const { operationId, summary, description, method, requestBody } = operation
  const example = BODIES[operationId] ?? requestBody?.content['application/json'].example
  const { header, auth } = credentialOf(operation, schemes)
  return {
    name: summary,
    ...(script === undefined ? {} : { event: [{ listen: 'test', script: { type: 'text/javascript', exec: script } }] }),
    request: {
      method,
      description,
      ...(auth === undefined ? {} : { auth }),
      header: [...headersOf(operation), ...header],
      ...(example === undefined
        ? {}
        : {
            body: { mode: 'raw', raw: JSON.stringify(example, null, 2), options: { raw: { language: 'json' } } },
          }),
      url: urlOf(operation),
    },
  }
}

function urlOf(operation: Operation): Json {
  const parts = operation.path
    .slice(1)
    .replaceAll(/\{(\w+)\}/g, ':$1')
    .split('/')
  const variable = pairsOf(operation, 'path')
  const query = pairsOf(operation, 'query')
  return { raw: `{{base_url}}/${parts.join('/')}`, host: ['{{base_url}}'], path: parts, query, variable }
}

function headersOf(operation: Operation): Json[] {
  const own = pairsOf(operation, 'header')
  return operation.requestBody === undefined ? own : [...own, { key: 'Content-Type', value: 'application/json' }]
}

/** The parameters at one place of a request; those that may be left out, which a path has none of, are switched off. */
function pairsOf({ path, parameters }: Operation, place: 'path' | 'query' | 'header'): Json[] {
  const isOfPayment = place === 'path' && /\/payments\/\{id\}/.test(path)
  const known = new Map([
    ['X-Idempotency-Key', '{{$guid}}'],
    ...(isOfPayment ? [['id', '{{payment_id}}'] as const] : []),
  ])
  return parameters
    .filter((each) => each.in === place)
    .map(({ name, required, description, schema }) => ({
      key: name,
      value: known.get(name) ?? valueOf(schema),
      description,
      ...(place === 'path' ? {} : { disabled: !required }),
    }))
}

/** The first of the credentials that an operation takes: a header, or a token. */
function credentialOf({ security: [first = {}] }: Operation, schemes: Schemes): { header: Json[]; auth?: Json } {
  const [scheme = ''] = Object.keys(first)
  const { type, name } = schemes[scheme] ?? {}
  const value = `{{${CREDENTIALS[scheme] ?? scheme}}}`
  if (type === undefined) return { header: [] }
  if (type === 'apiKey') return { header: [{ key: name, value }] }
  return { header: [], auth: { type: 'bearer', bearer: [{ key: 'token', value, type: 'string' }] } }
}

function valueOf({ examples, default: initial }: Json): string {
  const value: unknown = initial ?? (Array.isArray(examples) ? examples[0] : undefined)
  return value === undefined || value === null ? '' : String(value)
}
