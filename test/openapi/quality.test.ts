import { createConfig, lintFromString } from '@redocly/openapi-core'
import { Validator } from '@seriousme/openapi-schema-validator'
import { readdirSync } from 'node:fs'
import { join } from 'node:path'
import t from 'tap'
import { z } from 'zod'
import { packageRoot } from '../../src/lib/package-root.ts'
import { openApiDocument } from '../../src/openapi/document.ts'
import { makeSchemas } from '../../src/openapi/schemas.ts'
import { tagOf } from '../../src/openapi/tags.ts'
import { WIRE } from '../../src/openapi/wire.ts'
import { sampleEvent } from '../../src/openapi/webhooks.ts'
import { NoBody, NoHeaders, None } from '../../src/wire/common.ts'
import { operation } from '../../src/wire/operation.ts'
import { payloadOf } from '../../src/wire/webhook-payloads.ts'
import { EventType } from '../../src/wire/webhook-events.ts'

type Schema = { properties?: Record<string, Schema>; description?: string; $ref?: string; pattern?: string }
type Document = {
  tags: { name: string }[]
  paths: Record<string, Record<string, { tags: string[]; parameters: { schema: Schema }[] }>>
  webhooks: Record<string, { post: { operationId: string; requestBody: { content: Record<string, unknown> } } }>
  components: { schemas: Record<string, Schema> }
}

const SERVICES = {
  headers: { kind: 'none', authUrl: null },
  tokens: { kind: 'embedded', authUrl: 'https://svc.example' },
} as const
const made = (surface: 'a' | 'b', by: keyof typeof SERVICES = 'headers'): Document =>
  openApiDocument(
    { publicUrl: 'https://svc.example', config: { mode: 'sandbox' }, identity: SERVICES[by] },
    surface,
  ) as Document
const [a, b] = [made('a'), made('b')]

t.test('two validators accept both documents, also what the stricter says of examples and style', async (t) => {
  const config = await createConfig({ extends: ['recommended-strict'] })
  for (const document of [a, b, made('a', 'tokens'), made('b', 'tokens')]) {
    t.same(await new Validator().validate(structuredClone(document)), { valid: true })
    const problems = await lintFromString({ source: JSON.stringify(document), config })
    t.same(
      problems.map(({ ruleId, message, location: [at] }) => `${ruleId}: ${message} ${at?.pointer ?? ''}`),
      [],
    )
  }
})

t.test('the schemas that the contract names are components under their names', async (t) => {
  const named =
    `CurrencyAmount AccountIdentification AccountListResponse BalanceResponse TransactionListResponse PaymentInitiation PaymentResponse RecurringPaymentInitiation RecurringPaymentResponse RequestToPay RequestToPayResponse OfferToPay OfferToPayResponse`.split(
      ' ',
    )
  t.same(
    named.filter((name) => a.components.schemas[name] === undefined),
    [],
  )
  for (const name of ['CreatePayment', 'CreatedPayment', 'Payment', 'PaymentStatus', 'Refund', 'ListPaymentsResponse'])
    t.ok(b.components.schemas[name], name)
  t.notOk(b.components.schemas['None'], 'no name is a keyword of a language')
})

t.test('every file of the contract is among those whose exports are named, and no name is there twice', async (t) => {
  const folder = join(packageRoot(), 'src', 'wire')
  const modules = await Promise.all(
    readdirSync(folder)
      .filter((file) => !['operation.ts', 'webhook-samples.ts'].includes(file))
      .map((file) => import(join(folder, file))),
  )
  const names = modules.flatMap((each: object) => Object.keys(each))
  t.same(names.toSorted(), Object.keys(WIRE).toSorted())
})

t.test('every member and parameter is described, and every operation has an area that is described', async (t) => {
  for (const document of [a, b]) {
    const members = Object.entries(document.components.schemas).flatMap(([name, schema]) => membersOf(name, schema))
    t.ok(members.length > 100)
    t.same(
      members.filter(([, { description }]) => description === undefined).map(([name]) => name),
      [],
    )
    const areas = new Set(document.tags.map(({ name }) => name))
    for (const methods of Object.values(document.paths))
      for (const { tags } of Object.values(methods)) t.ok(areas.has(tags[0] ?? ''))
  }
  t.equal(tagOf('/api/v1/payments').name, 'Payments')
  t.equal(tagOf('/open-banking/v1/payments').name, 'Payment orders')
  t.equal(tagOf('/api/v1/sandbox/payments/{id}/dispute').name, 'Sandbox')
  t.throws(() => tagOf('/api/v1/nowhere'), /belongs to no area/)
})

function membersOf(name: string, schema: Schema): [string, Schema][] {
  return Object.entries(schema.properties ?? {}).flatMap(([member, each]): [string, Schema][] => [
    [`${name}.${member}`, each],
    ...membersOf(`${name}.${member}`, each),
  ])
}

t.test('patterns are of the subset that every language knows', async (t) => {
  const patterns = new Set(
    [...JSON.stringify([a, b]).matchAll(/"pattern":("(?:[^"\\]|\\.)*")/g)].map(([, text]) => text),
  )
  t.ok(patterns.size > 10)
  for (const text of patterns) {
    const pattern = z.string().parse(JSON.parse(text ?? ''))
    t.notMatch(pattern, /\\[pPuU]|\(\?[=!<]/, pattern)
    t.ok(new RegExp(pattern))
  }
})

t.test('a schema that is sent in another form than it is accepted has a name for each', async (t) => {
  const Money = z.strictObject({ amount: z.string().default('1') })
  const probe = operation({
    name: 'probe',
    method: 'POST',
    path: '/probe',
    summary: 'For this test',
    access: ['anyone'],
    params: None,
    query: None,
    headers: NoHeaders,
    body: Money,
    replies: { 200: z.strictObject({ money: Money }), 204: NoBody },
    errors: [],
  })
  const { components, ref } = makeSchemas([probe], [])
  t.same(ref(probe.body, 'input'), { $ref: '#/components/schemas/ProbeRequestInput' })
  t.same(ref(probe.body, 'output'), { $ref: '#/components/schemas/ProbeRequest' })
  t.match(components, { ProbeRequestInput: { additionalProperties: false }, ProbeRequest: { required: ['amount'] } })
  t.notOk('additionalProperties' in (components['ProbeRequest'] ?? {}), 'responses may get further members')
})

t.test('every webhook is described, and its example and the made-up events are what the schema says', async (t) => {
  t.same(Object.keys(b.webhooks), EventType.options)
  t.equal(new Set(Object.values(b.webhooks).map(({ post }) => post.operationId)).size, EventType.options.length)
  for (const type of EventType.options) {
    const event = sampleEvent(type)
    t.same(payloadOf(type).parse(event), event, `${type}: no member more or less`)
    t.match(b.webhooks[type]?.post.requestBody.content, { 'application/json': { example: event } })
  }
})
