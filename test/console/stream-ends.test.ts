import { randomUUID } from 'node:crypto'
import { once } from 'node:events'
import t from 'tap'
import type { Test } from 'tap'
import { startApi } from '../../src/api.ts'
import { makeApp } from '../../src/app.ts'
import { makeSharedRates } from '../../src/db/shared-rates.ts'
import { testService, until } from '../support/app.ts'
import type { TestService } from '../support/app.ts'
import { openStream } from '../support/event-stream.ts'
import { rawSocket } from '../support/raw-http.ts'
import { serviceWithRealms } from '../support/realms.ts'
import { plantDeliveries } from '../support/webhooks.ts'

const LIMITS = {
  gapMs: 10,
  fallbackMs: 50,
  askAgainMs: 30,
  stuckMs: 200,
  perCaller: 2,
  perMerchant: 3,
  perProcess: 5,
  reservedForOperators: 1,
}

t.test('an expired token and a revoked client end the stream with the reason', async (t) => {
  const { service, person, program, operator } = await serviceWithRealms(t, { overrides: { streamLimits: LIMITS } })
  const merchant = await service.merchant()
  // Again where it has ended before it was read, as on a busy machine.
  const ending = await until(async () => {
    const seconds = Math.floor(Date.now() / 1000)
    const short = person(merchant, { roles: ['ADMIN'], claims: { iat: seconds - 5, exp: seconds + 2 } })
    const stream = await openStream(t, service.url, { headers: short })
    return stream.status === 200 && stream
  })
  const headers = await program(merchant, 'FINANCE')
  const revoked = await openStream(t, service.url, { headers })
  const staying = await openStream(t, service.url, { headers: operator({ roles: ['SUPPORT'] }) })
  t.match([ending.status, revoked.status, staying.status], [200, 200, 200])
  await service.owner.query(
    `update merchant_client set revoked_at = now() where merchant_id = $1 and kind = 'credential'`,
    [merchant.id],
  )
  await Promise.all([ending.ended, revoked.ended])
  t.match(ending.frames.at(-1), { event: 'end', data: { code: 'TOKEN_EXPIRED', message: String } })
  t.match(revoked.frames.at(-1), { event: 'end', data: { code: 'UNAUTHENTICATED' } })
  await plantDeliveries(service.owner, merchant.id)
  await staying.events(1)
  t.notOk(staying.frames.some(({ event }) => event === 'end'))
  t.match(await openStream(t, service.url), { status: 401, text: /UNAUTHENTICATED/ })
  const nobody = person(merchant)
  t.match(await openStream(t, service.url, { headers: nobody }), { status: 403, text: /FORBIDDEN_ROLE/ })
})

t.test('streams are limited for each caller, merchant and process, and released at their end', async (t) => {
  const { service, person, operator } = await serviceWithRealms(t, { overrides: { streamLimits: LIMITS } })
  const merchant = await service.merchant()
  const ada = person(merchant, { roles: ['ADMIN'] })
  const bob = person(merchant, { roles: ['DEVELOPER'] })
  const open = (headers: Record<string, string>) => openStream(t, service.url, { headers })
  const first = await open(ada)
  await open(ada)
  t.match(
    await open(ada),
    { status: 429, headers: { 'retry-after': '10' }, text: /RATE_LIMITED/ },
    'a third stream of the operator',
  )
  t.match(await open(bob), { status: 200 })
  t.match(await open(bob), { status: 429 }, 'a fourth stream of the merchant')
  const operators = [await open(operator({ roles: ['OPS'] })), await open(operator({ roles: ['OPS'] }))]
  t.match(operators, [{ status: 200 }, { status: 200 }])
  t.match(await open(operator({ roles: ['OPS'] })), { status: 429 }, 'a sixth stream of the process')
  first.close()
  await until(async () => (await open(ada)).status === 200)
})

t.test('some streams are reserved for operators', async (t) => {
  const { service, person, operator } = await serviceWithRealms(t, { overrides: { streamLimits: LIMITS } })
  const statuses: number[] = []
  for (const merchant of [await service.merchant(), await service.merchant()])
    for (const role of ['ADMIN', 'ADMIN', 'DEVELOPER'] as const) {
      const headers = person(merchant, { roles: [role] })
      statuses.push((await openStream(t, service.url, { headers })).status)
    }
  t.same(statuses, [200, 200, 200, 200, 429, 429])
  t.match(await openStream(t, service.url, { headers: operator({ roles: ['OPS'] }) }), { status: 200 })
})

/** A service whose rates are never refilled: the clock stands still. */
const withUsedUpRates = (t: Test) => {
  const wake = { listen: async () => async () => undefined, notify: () => undefined, close: async () => undefined }
  return serviceWithRealms(t, {
    env: { SVC_RATE_LIMITS: 'true' },
    overrides: { streamLimits: { ...LIMITS, pingMs: 30 }, rates: makeSharedRates({ wake, now: () => 0 }) },
  })
}

const addMember = ({ owner }: TestService, merchantId: string, id: string) =>
  owner.query(
    `insert into team_members (merchant_id, id, email, role, invited_by) values ($1, $2, $2 || '@acme.example', 'ADMIN', 'test')`,
    [merchantId, id],
  )

t.test('a caller that is rate limited keeps its stream, and a removed one does not', async (t) => {
  const { service, person } = await withUsedUpRates(t)
  const merchant = await service.merchant()
  const subject = randomUUID()
  await addMember(service, merchant.id, subject)
  const headers = person(merchant, { roles: ['ADMIN'], subject })
  const stream = await openStream(t, service.url, { headers })
  t.equal(stream.status, 200)
  const call = (path: string, by: Record<string, string>) => service.call('GET', path, { headers: by })
  while ((await call('/api/v1/payments', headers)).status !== 429);
  const unknown = { authorization: 'Bearer made-up' }
  while ((await call('/api/v1/whoami', unknown)).status !== 429);
  const pings = stream.comments.length
  // As often as the caller is checked.
  await until(async () => stream.comments.length > pings + 5)
  await plantDeliveries(service.owner, merchant.id)
  await stream.events(1)
  t.notOk(stream.frames.some(({ event }) => event === 'end'))
  await service.owner.query('update team_members set is_active = false where id = $1', [subject])
  await stream.ended
  t.match(stream.frames.at(-1), { event: 'end', data: { code: 'UNAUTHENTICATED' } })
})

t.test('a stream ends with its token, while its network has used up the rate of expired ones', async (t) => {
  const { service, person } = await withUsedUpRates(t)
  const merchant = await service.merchant()
  const seconds = Math.floor(Date.now() / 1000)
  const expired = person(merchant, { roles: ['ADMIN'], claims: { iat: seconds - 900, exp: seconds - 60 } })
  while ((await service.call('GET', '/api/v1/whoami', { headers: expired })).status !== 429);
  const stream = await until(async () => {
    const now = Math.floor(Date.now() / 1000)
    const headers = person(merchant, { roles: ['ADMIN'], claims: { iat: now - 5, exp: now + 2 } })
    const opened = await openStream(t, service.url, { headers })
    return opened.status === 200 && opened
  })
  await stream.ended
  t.match(stream.frames.at(-1), { event: 'end', data: { code: 'TOKEN_EXPIRED' } })
})

t.test('a stream ends with its token, and not only when its caller is checked next', async (t) => {
  const streamLimits = { ...LIMITS, askAgainMs: 3_600_000 }
  const { service, person } = await serviceWithRealms(t, { overrides: { streamLimits } })
  const merchant = await service.merchant()
  const stream = await until(async () => {
    const now = Math.floor(Date.now() / 1000)
    const headers = person(merchant, { roles: ['ADMIN'], claims: { iat: now - 5, exp: now + 2 } })
    const opened = await openStream(t, service.url, { headers })
    return opened.status === 200 && opened
  })
  await stream.ended
  t.match(stream.frames.at(-1), { event: 'end', data: { code: 'TOKEN_EXPIRED' } })
})

t.test('a demoted ADMIN hears of dead deliveries no more', async (t) => {
  const { service, person } = await serviceWithRealms(t, { overrides: { streamLimits: LIMITS } })
  const merchant = await service.merchant()
  const subject = randomUUID()
  await addMember(service, merchant.id, subject)
  const stream = await openStream(t, service.url, {
    headers: person(merchant, { roles: ['ADMIN', 'FINANCE'], subject }),
  })
  const hints = () => stream.frames.filter(({ event }) => event === 'changed').length
  let events = 0
  /** Whether the stream has a hint of a change that was before the next event. */
  const hears = async () => {
    const before = hints()
    await service.owner.query("select pg_notify('svc_wake', 'console:deliveries:' || $1)", [merchant.id])
    await plantDeliveries(service.owner, merchant.id)
    await stream.events((events += 1))
    return hints() > before
  }
  await until(hears)
  await service.owner.query("update team_members set role = 'FINANCE' where id = $1", [subject])
  await until(async () => !(await hears()))
  t.notOk(await hears())
  t.notOk(
    stream.frames.some(({ event }) => event === 'end'),
    'it still reads payments',
  )
})

t.test('merchants that anyone can register take few streams together', async (t) => {
  const streamLimits = { ...LIMITS, perMerchant: 4, perCaller: 10, perProcess: 20, perUnapproved: 2, unapproved: 3 }
  const { service, person } = await serviceWithRealms(t, { overrides: { streamLimits } })
  const open = async (kybStatus: 'PENDING' | 'APPROVED', count: number) => {
    const headers = person(await service.merchant({ kybStatus }), { roles: ['ADMIN'] })
    const statuses: number[] = []
    for (let opened = 0; opened < count; opened += 1)
      statuses.push((await openStream(t, service.url, { headers })).status)
    return statuses
  }
  t.same(await open('PENDING', 3), [200, 200, 429])
  t.same(await open('PENDING', 2), [200, 429])
  t.same(await open('PENDING', 1), [429])
  t.same(await open('APPROVED', 5), [200, 200, 200, 200, 429])
})

t.test('a reader that accepts nothing is disconnected, and nothing is buffered for it', async (t) => {
  // Longer than the reader of this process may stand still.
  const service = await testService(t, { overrides: { streamLimits: { ...LIMITS, stuckMs: 4_000 } } })
  const merchant = await service.merchant()
  const socket = rawSocket(Number(new URL(service.url).port))
  t.teardown(() => socket.destroy())
  await once(socket, 'connect')
  socket.write(
    `GET /api/v1/events/stream HTTP/1.1\r\nhost: 127.0.0.1\r\nx-merchant-client-id: ${merchant.clientId}\r\n\r\n`,
  )
  await once(socket, 'readable')
  const reading = await openStream(t, service.url, { headers: { 'x-merchant-client-id': merchant.clientId } })
  // More than the buffers of both ends hold: about 300 bytes each.
  for (let planted = 0; planted < 40_000; planted += 5_000)
    await plantDeliveries(service.owner, merchant.id, { count: 5_000, nextRetryAt: 'infinity' })
  const closed = once(socket, 'close')
  await until(async () => service.app.metrics.eventStreams.get().then(({ values }) => values[0]?.value === 1))
  socket.resume()
  await closed
  const frames = await reading.events(1)
  t.ok(frames.length > 0, 'a stream that reads is not ended')
})

t.test('a shutdown ends streams at once', async (t) => {
  const service = await testService(t)
  const app = await makeApp({ ...service.app.config, port: 0 })
  const api = await startApi(app)
  const stream = await openStream(t, api.url, { headers: { 'x-platform-user': 'olga' } })
  const idle = rawSocket(api.port)
  t.teardown(() => idle.destroy())
  idle.on('error', () => undefined)
  await once(idle, 'connect')
  idle.write('GET /api/v1/events/stream HTTP/1.1\r\nhost: 127.0.0.1\r\nx-platform-user: olga\r\n\r\n')
  await once(idle, 'readable')
  const begun = performance.now()
  await Promise.all([api.stop(), stream.ended])
  t.ok(performance.now() - begun < 5_000, 'well before the ten seconds of other requests')
  t.match(stream.frames.at(-1), { event: 'end', data: { code: 'SERVICE_UNAVAILABLE' } })
  const again = await startApi(app)
  t.equal((await openStream(t, again.url, { headers: { 'x-platform-user': 'olga' } })).status, 200)
  await again.stop()
  await app.close()
})
