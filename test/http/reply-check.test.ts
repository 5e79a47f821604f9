import { EventEmitter } from 'node:events'
import type { IncomingMessage, ServerResponse } from 'node:http'
import { createServer } from 'node:http'
import t from 'tap'
import { request } from 'undici'
import { z } from 'zod'
import type { App } from '../../src/app.ts'
import { makeEndpoint } from '../../src/http/endpoint.ts'
import type { RoutedRequest } from '../../src/http/endpoint.ts'
import { NoBody, NoHeaders, None } from '../../src/wire/common.ts'
import { operation } from '../../src/wire/operation.ts'
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
): Promise<{ status: number; text: string; headers: Record<string, unknown> }> {
  // What the types forbid is what this test is about.
  const endpoint = makeEndpoint(
    app,
    async () => ({ kind: 'anyone' }),
    probe,
    async () => reply as { status: 200; body: { ok: boolean } },
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

t.test('in production it is not held up', async (t) => {
  const live: App = { ...service.app, config: { ...service.app.config, mode: 'live' } }
  t.match(await serve(live, { status: 200, body: { ok: true, more: 1 } }), { status: 200 })
})
