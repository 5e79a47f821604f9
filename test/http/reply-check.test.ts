import { EventEmitter } from 'node:events'
import type { IncomingMessage, ServerResponse } from 'node:http'
import { createServer } from 'node:http'
import t from 'tap'
import { request } from 'undici'
import { z } from 'zod'
import type { App } from '../../src/app.ts'
import { makeEndpoint, replying } from '../../src/http/endpoint.ts'
import type { RoutedRequest } from '../../src/http/endpoint.ts'
import { NoBody, NoHeaders, None } from '../../src/wire/common.ts'
import { ROUTES, SANDBOX_ROUTES } from '../../src/http/routes.ts'
import { operation } from '../../src/wire/operation.ts'
import type { Deprecated } from '../../src/wire/operation.ts'
import { testService } from '../support/app.ts'

const service = await testService(t)

const probe = operation({
  name: 'probe',
  method: 'GET',
  path: '/probe',
  summary: 'For this test',
  access: ['anyone'],
  params: None,
  query: None,
  headers: NoHeaders,
  body: NoBody,
  replies: { 200: z.strictObject({ ok: z.boolean() }) },
  errors: [],
})

/** Serves one endpoint whose handler answers `reply`, whatever its declaration says. */
async function serve(
  app: App,
  reply: unknown,
  deprecated?: Deprecated,
): Promise<{ status: number; text: string; headers: Record<string, unknown> }> {
  // What the types forbid is what this test is about.
  const endpoint = makeEndpoint(
    app,
    async () => ({ kind: 'anyone' }),
    deprecated === undefined ? probe : { ...probe, deprecated },
    replying(async () => reply as { status: 200; body: { ok: boolean } }),
  )
  const server = createServer((req: IncomingMessage, res: ServerResponse) => {
    const routed: RoutedRequest = Object.assign(req, { params: {}, query: {} })
    void endpoint(routed, res)
  })
  await EventEmitter.once(server.listen(0, '127.0.0.1'), 'listening')
  const address = server.address()
  if (address === null || typeof address === 'string') throw new Error('no port')
  const answer = await request(`http://127.0.0.1:${address.port}/probe`)
  const text = await answer.body.text()
  server.close()
  return { status: answer.statusCode, text, headers: answer.headers }
}

t.test('an answer that keeps the contract is sent', async (t) => {
  t.match(await serve(service.app, { status: 200, body: { ok: true } }), {
    status: 200,
    text: '{"ok":true}',
    headers: { 'x-request-id': /./ },
  })
})

t.test('in the sandbox an answer that breaks the contract is a 500 that shows nothing of it', async (t) => {
  for (const reply of [
    { status: 200, body: { ok: 'yes' } },
    { status: 200, body: { ok: true, secret: 'canary' } },
    { status: 204, body: {} },
    { status: 200, body: undefined },
  ]) {
    const answer = await serve(service.app, reply)
    t.equal(answer.status, 500)
    t.notMatch(answer.text, /canary|declared|probe/)
  }
})

t.test('a deprecated operation says since when, and when it will be gone', async (t) => {
  const { headers } = await serve(
    service.app,
    { status: 200, body: { ok: true } },
    { since: '2027-01-01', sunset: '2027-07-01' },
  )
  t.equal(headers['deprecation'], '@1798761600', 'RFC 9745')
  t.equal(headers['sunset'], 'Thu, 01 Jul 2027 00:00:00 GMT', 'RFC 8594')
})

t.test('no operation is gone sooner than six months after it was deprecated', async (t) => {
  for (const { operation: each } of [...ROUTES, ...SANDBOX_ROUTES]) {
    if (each.deprecated === undefined) continue
    const soonest = new Date(each.deprecated.since)
    soonest.setUTCMonth(soonest.getUTCMonth() + 6)
    t.ok(new Date(each.deprecated.sunset) >= soonest, each.name)
  }
})

t.test('in production it is not held up', async (t) => {
  const live: App = { ...service.app, config: { ...service.app.config, mode: 'live' } }
  t.match(await serve(live, { status: 200, body: { ok: true, more: 1 } }), { status: 200 })
})
