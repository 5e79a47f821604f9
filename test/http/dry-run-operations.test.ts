import { randomUUID } from 'node:crypto'
import t from 'tap'
import type { Test } from 'tap'
import { ROUTES, SANDBOX_ROUTES } from '../../src/http/routes.ts'
import type { Operation } from '../../src/wire/operation.ts'
import { testService } from '../support/app.ts'
import type { Answer } from '../support/app.ts'
import { SAMPLES, bankCustomer } from '../support/dry-run-requests.ts'
import type { SampleRequest } from '../support/dry-run-requests.ts'
import { hashTables } from '../support/rows.ts'

/*
 * Every operation that takes `dry_run`, on an identity provider whose tables are hashed as well: nothing changes, and
 * the answer is that of the same request right after.
 */

const service = await testService(t, {
  env: { SVC_IDENTITY: 'embedded', SVC_WEBHOOK_ALLOW_PRIVATE: 'true' },
})
const operator = await service.operator()
const support = await service.operator('SUPPORT')
const OPERATIONS = [...ROUTES, ...SANDBOX_ROUTES].map(({ operation }) => operation)

/** Changing operations without a dry run, and why. */
const WITHOUT: Record<string, string> = {
  registerMerchant: 'counts attempts by network, so that names can not be probed',
  createOfferToPay: 'counts failed look-ups of people, so that they can not be probed',
  createRequestToPay: 'counts failed look-ups of people, so that they can not be probed',
  requestLink: 'counts requests by network',
  verifyLink: 'counts failed attempts, and its answer is a credential',
  completeSca: 'exchanges a code at the bank',
  bankCallback: 'is the report of a bank',
  registerAtBank: 'asks a bank',
  testBank: 'asks a bank',
  checkWebhookEndpoint: 'is nothing but a call to the receiver',
  advanceSandboxPayment: 'runs the jobs of a worker, in many transactions',
  advanceSandboxClock: 'waits for the jobs of a worker',
}

function pathOf({ path }: Operation, { params = {} }: SampleRequest, dry: boolean): string {
  const filled = path.replace(/\{(\w+)\}/g, (_, name: string) => encodeURIComponent(params[name] ?? 'x'))
  return dry ? `${filled}?dry_run=true` : filled
}

function send(operation: Operation, sample: SampleRequest, dry: boolean): Promise<Answer> {
  const { merchant, headers = {}, body } = sample
  return service.call(operation.method, pathOf(operation, sample, dry), {
    headers,
    ...(merchant === undefined ? {} : { merchant }),
    ...(body === undefined ? {} : { body }),
  })
}

const OPAQUE: readonly [RegExp, string][] = [
  [/[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}/g, '<uuid>'],
  [/\d{4}-\d\d-\d\dT[\d:.]+Z/g, '<time>'],
  [/evt_\w+/g, '<event>'],
]

/** Members whose values are made anew for each request. */
const RANDOM =
  /^(redirect_url|end_to_end_id|.*secret|client_id|realm_slug|issuer|token_endpoint|Id|.*_id|identifications|key_ids|email|ordinal|check)$/

/** A body without what two equal requests differ in. */
function comparable(value: unknown, name = ''): unknown {
  if (RANDOM.test(name)) return '<random>'
  if (typeof value === 'string')
    return OPAQUE.reduce((text, [pattern, stand]) => text.replaceAll(pattern, stand), value)
  if (Array.isArray(value)) return value.map((each) => comparable(each))
  if (typeof value !== 'object' || value === null) return value
  return Object.fromEntries(Object.entries(value).map(([key, each]) => [key, comparable(each, key)]))
}

for (const operation of OPERATIONS.filter(({ dryRun }) => dryRun === true)) {
  t.test(`${operation.name} answers a dry run as the request, and changes nothing`, async (t) => {
    const sample = SAMPLES[operation.name]
    if (sample === undefined) return t.fail('test/support/dry-run-requests.ts has no request for it')
    const merchant = await service.merchant()
    const request = await sample({ service, merchant, operator })
    const before = await hashTables(service.owner)
    const dry = await send(operation, request, true)
    t.same(await hashTables(service.owner), before, 'no row has changed')
    const real = await send(operation, request, false)
    t.ok(real.status < 300, real.text)
    t.equal(dry.status, real.status, dry.text)
    t.same(comparable(dry.body), comparable(real.body))
    t.notSame(await hashTables(service.owner), before, 'the request itself changes something')
    await sameRejections(t, operation, request)
  })
}

/** What the caller may not do, what is not there, and what is not possible any more, with and without a dry run. */
async function sameRejections(t: Test, operation: Operation, request: SampleRequest): Promise<void> {
  const unknown = Object.fromEntries(Object.keys(request.params ?? {}).map((name) => [name, randomUUID()]))
  const { merchant, ...withoutMerchant } = request
  const weaker =
    merchant === undefined
      ? { ...request, headers: { ...request.headers, ...support } }
      : { ...request, merchant: await service.merchant({ serverRole: null }) }
  const rejected: [what: string, request: SampleRequest][] = [
    ['the same once more', request],
    ['an unknown id', { ...request, params: unknown }],
    ['a role with few permissions', weaker],
    ['no credentials', { ...withoutMerchant, headers: {} }],
    ['a body of nonsense', { ...request, body: { nonsense: true } }],
  ]
  const before = await hashTables(service.owner)
  const dry: Answer[] = []
  for (const [, each] of rejected) dry.push(await send(operation, each, true))
  t.same(await hashTables(service.owner), before, 'no rejection has changed a row')
  for (const [index, [what, each]] of rejected.entries()) {
    const real = await send(operation, each, false)
    t.same([dry[index]?.status, codesOf(dry[index])], [real.status, codesOf(real)], what)
    if (real.status >= 400) codes.add(real.status)
  }
}

/** The codes of an error: its own, and those of the fields. */
function codesOf(answer: Answer | undefined): unknown {
  const body = answer?.body
  return [body?.code, body?.errors, body?.Errors]
}

/** The statuses of all rejections that were compared. */
const codes = new Set<number>()

t.test('rejections of every kind were compared', async (t) => {
  for (const status of [400, 401, 403, 404, 409]) t.ok(codes.has(status), String(status))
})

/** The credentials of a caller whom an operation lets in. */
async function proofOf({ access }: Operation): Promise<SampleRequest> {
  const merchant = await service.merchant()
  if (access.includes('merchant')) return { merchant }
  if (access.includes('customer')) return { headers: (await bankCustomer({ service, merchant, operator })).headers }
  return { headers: operator }
}

t.test('every other operation rejects the parameter by its name', async (t) => {
  const others = OPERATIONS.filter(({ dryRun, stream }) => dryRun !== true && stream === undefined)
  t.same(
    others.flatMap(({ method, name }) => (method === 'GET' ? [] : [name])).toSorted(),
    Object.keys(WITHOUT).toSorted(),
  )
  for (const operation of others) {
    const { query } = operation
    const parsed = query.safeParse({ dry_run: 'true' })
    const unknown = parsed.error?.issues.filter(({ code }) => code === 'unrecognized_keys')
    t.match(unknown, [{ keys: ['dry_run'] }], operation.name)
  }
  for (const name of Object.keys(WITHOUT)) {
    const operation = others.find((each) => each.name === name)
    if (operation === undefined) return t.fail(name)
    const { status, body } = await send(operation, { ...(await proofOf(operation)), body: {} }, true)
    t.equal(status, 400, name)
    t.match(JSON.stringify(body), /dry_run/, name)
  }
  const { status, body } = await service.call('GET', '/api/v1/banks?dry_run=true')
  t.match({ status, body }, { status: 400, body: { errors: [{ path: 'dry_run', code: 'UNKNOWN_FIELD' }] } })
})
