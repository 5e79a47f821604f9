import t from 'tap'
import { request } from 'undici'
import { z } from 'zod'
import { ROUTES, SANDBOX_ROUTES } from '../../src/http/routes.ts'
import { issuerOf } from '../../src/lib/realms.ts'
import { postmanCollection } from '../../src/openapi/postman.ts'
import { testService } from '../support/app.ts'

const Text = z.string()
const Pair = z.strictObject({
  key: Text.min(1),
  value: Text,
  type: z.literal('string').optional(),
  description: Text.optional(),
  disabled: z.boolean().optional(),
})
const Item = z.strictObject({
  name: Text.min(5),
  event: z
    .array(
      z.strictObject({
        listen: z.literal('test'),
        script: z.strictObject({ type: z.literal('text/javascript'), exec: z.array(Text) }),
      }),
    )
    .optional(),
  request: z.strictObject({
    method: z.enum(['GET', 'POST', 'PUT', 'DELETE']),
    description: Text.min(10),
    auth: z
      .discriminatedUnion('type', [
        z.strictObject({ type: z.literal('bearer'), bearer: z.array(Pair).length(1) }),
        z.strictObject({ type: z.literal('basic'), basic: z.array(Pair).length(2) }),
      ])
      .optional(),
    header: z.array(Pair),
    body: z
      .discriminatedUnion('mode', [
        z.strictObject({
          mode: z.literal('raw'),
          raw: Text,
          options: z.strictObject({ raw: z.strictObject({ language: z.literal('json') }) }),
        }),
        z.strictObject({ mode: z.literal('urlencoded'), urlencoded: z.array(Pair) }),
      ])
      .optional(),
    url: z.strictObject({
      raw: Text,
      host: z.array(Text).length(1),
      path: z.array(Text.min(1)),
      query: z.array(Pair).optional(),
      variable: z.array(Pair).optional(),
    }),
  }),
})
/** What the format 2.1.0 asks of the parts that we use. */
const Collection = z.strictObject({
  info: z.strictObject({
    name: Text,
    description: Text,
    schema: z.literal('https://schema.getpostman.com/json/collection/v2.1.0/collection.json'),
  }),
  variable: z.array(Pair),
  item: z.array(z.strictObject({ name: Text, item: z.array(Item).min(1) })),
})
type Item = z.infer<typeof Item>

const service = await testService(t)
const collection = Collection.parse((await service.call('GET', '/postman.json')).body)
const ALL = [...ROUTES, ...SANDBOX_ROUTES].map((row) => row.operation)
const [first, ...folders] = collection.item

t.test('it has every operation once, in the folder of its area', async (t) => {
  const sent = folders.flatMap(({ item }) => item).map((each) => `${each.request.method} ${each.request.url.raw}`)
  const declared = ALL.map(({ method, path }) => `${method} {{base_url}}${path.replaceAll(/\{(\w+)\}/g, ':$1')}`)
  t.same(sent.toSorted(), declared.toSorted())
  t.equal(collection.variable.find(({ key }) => key === 'base_url')?.value, service.app.publicUrl)
})

t.test('every variable that a request needs is one of the collection', async (t) => {
  const known = new Set(collection.variable.map(({ key }) => key))
  const used = [...JSON.stringify(collection.item).matchAll(/\{\{([^}]+)\}\}/g)].map(([, name = '']) => name)
  t.same(
    [...new Set(used)].filter((name) => !known.has(name)),
    ['$guid'],
    'but for the one that Postman makes',
  )
  for (const { request: sent } of collection.item.flatMap(({ item }) => item)) {
    const inPath = sent.url.path.filter((part) => part.startsWith(':')).map((part) => part.slice(1))
    t.same(
      (sent.url.variable ?? []).map(({ key }) => key),
      inPath,
      sent.url.raw,
    )
    if (sent.body?.mode === 'raw') t.doesNotThrow(() => JSON.parse(sent.body?.mode === 'raw' ? sent.body.raw : ''))
  }
})

function proofOf(auth: Item['request']['auth'], filled: (text: string) => string): Record<string, string> {
  if (auth === undefined) return {}
  const [first = '', second = ''] = (auth.type === 'basic' ? auth.basic : auth.bearer).map(({ value }) => filled(value))
  if (auth.type === 'bearer') return { authorization: `Bearer ${first}` }
  return { authorization: `Basic ${Buffer.from(`${first}:${second}`).toString('base64')}` }
}

function formOf(pairs: readonly z.infer<typeof Pair>[]): string {
  return new URLSearchParams(pairs.map(({ key, value }): [string, string] => [key, value])).toString()
}

/** Sends a request as Postman does, and runs its script. */
async function play(item: Item, variables: Map<string, string>): Promise<string[]> {
  const filled = (text: string): string =>
    text.replaceAll(/\{\{([^}]+)\}\}/g, (_all, name: string) =>
      name === '$guid' ? crypto.randomUUID() : (variables.get(name) ?? ''),
    )
  const { method, header, auth, url, body } = item.request
  const inPath = new Map(url.variable?.map(({ key, value }) => [key, filled(value)]))
  const path = url.path.map((part) => (part.startsWith(':') ? inPath.get(part.slice(1)) : part)).join('/')
  const response = await request(`${filled(url.host[0] ?? '')}/${path}`, {
    method,
    headers: {
      ...proofOf(auth, filled),
      ...Object.fromEntries(
        header.filter(({ disabled }) => disabled !== true).map(({ key, value }) => [key, filled(value)]),
      ),
      ...(body?.mode === 'urlencoded' ? { 'content-type': 'application/x-www-form-urlencoded' } : {}),
    },
    ...(body === undefined ? {} : { body: body.mode === 'raw' ? body.raw : formOf(body.urlencoded) }),
  })
  const text = await response.body.text()
  const passed: string[] = []
  const pm = {
    response: { code: response.statusCode, json: () => JSON.parse(text), text: () => text },
    collectionVariables: { set: (name: string, value: string) => variables.set(name, value) },
    test: (name: string, check: () => void) => {
      check()
      passed.push(name)
    },
  }
  // What Postman does with the lines of a script.
  // oxlint-disable-next-line typescript/no-implied-eval, no-new-func
  for (const { script } of item.event ?? []) new Function('pm', script.exec.join('\n'))(pm)
  return [`${response.statusCode} ${(JSON.parse(text) as { status?: string }).status ?? ''}`.trim(), ...passed]
}

t.test('the first payment runs as it is, to a settled one', async (t) => {
  const variables = new Map(collection.variable.map(({ key, value }) => [key, value]))
  const said: string[][] = []
  for (const item of first?.item ?? []) said.push(await play(item, variables))
  t.same(said, [
    ['201', 'responds with 201'],
    ['201 AwaitingAuthorisation', 'responds with 201'],
    ['200', 'responds with 200'],
    ['200 Settled', 'responds with 200'],
  ])
})

t.test('a step that fails says what it was answered', async (t) => {
  const [create] = first?.item.filter(({ name }) => /payment/i.test(name)) ?? []
  if (create === undefined) throw new Error('there is no such step')
  await t.rejects(play(create, new Map([['base_url', service.app.publicUrl]])), { message: /"code"/ })
})

t.test('with an identity provider the merchant gets its token first', async (t) => {
  const tokens = await testService(t, { env: { SVC_IDENTITY: 'embedded' } })
  const { clientId, clientSecret, realm } = await tokens.merchant()
  const made = Collection.parse((await tokens.call('GET', '/postman.json')).body)
  const variables = new Map(made.variable.map(({ key, value }) => [key, value]))
  for (const [name, value] of Object.entries({
    issuer: issuerOf(tokens.app.identity.authUrl ?? '', realm),
    client_id: clientId,
    client_secret: clientSecret,
  })) {
    t.ok(variables.has(name), name)
    variables.set(name, value)
  }
  const said: string[][] = []
  for (const item of made.item[0]?.item ?? []) said.push(await play(item, variables))
  t.same(said, [
    ['200', 'responds with 200'],
    ['201 AwaitingAuthorisation', 'responds with 201'],
    ['200 AwaitingAuthorisation', 'responds with 200'],
  ])
})

t.test('in live mode it has nothing of the sandbox', async (t) => {
  const identity = { kind: 'keycloak', authUrl: 'https://id.example' } as const
  const live = Collection.parse(
    postmanCollection({ publicUrl: 'https://pay.example', config: { mode: 'live' }, identity }),
  )
  const [start] = live.item
  t.match(start?.item[0]?.request, {
    auth: { type: 'basic' },
    url: { raw: '{{issuer}}/protocol/openid-connect/token' },
  })
  t.match(start?.item[1]?.request.auth, { type: 'bearer', bearer: [{ value: '{{access_token}}' }] })
  t.equal(start?.item.length, 3)
  t.notMatch(JSON.stringify(live), /sandbox\/|X-Merchant-Client-Id/)
})
