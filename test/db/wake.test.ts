import { once } from 'node:events'
import { connect, createServer } from 'node:net'
import type { AddressInfo, Socket } from 'node:net'
import t from 'tap'
import type { Test } from 'tap'
import { makeWake } from '../../src/db/wake.ts'
import { capturedLog } from '../support/captured-log.ts'
import { emptyDatabase } from '../support/database.ts'
import { until } from '../support/until.ts'

/** A proxy in front of the server that turns connections away, or cuts one at a statement. */
async function proxyTo(t: Test, url: string) {
  const { port, hostname } = new URL(url)
  const open = new Set<Socket>()
  const proxy = { url: '', open, comers: 0, turnsAway: 0, cutsAt: '' }
  const server = createServer((near) => {
    proxy.comers += 1
    near.on('error', () => undefined)
    if (proxy.turnsAway > 0) {
      proxy.turnsAway -= 1
      near.destroy()
      return
    }
    const far = connect(Number(port), hostname)
    open.add(near)
    near.on('data', (data) => {
      if (proxy.cutsAt === '' || !data.includes(proxy.cutsAt)) return far.write(data)
      proxy.cutsAt = ''
      return near.destroy()
    })
    near.on('close', () => {
      open.delete(near)
      far.destroy()
    })
    far.on('error', () => near.destroy())
    far.on('data', (data) => near.write(data))
    far.on('close', () => near.destroy())
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  t.teardown(() => {
    for (const socket of open) socket.destroy()
    server.close()
  })
  const own = new URL(url)
  // A server that listens on a port has one.
  own.port = String((server.address() as AddressInfo).port)
  own.hostname = '127.0.0.1'
  proxy.url = own.href
  return proxy
}

/** What listens through a proxy, and what wakes it from elsewhere. */
async function listenerBehindProxy(t: Test) {
  const { url } = await emptyDatabase(t)
  const proxy = await proxyTo(t, url)
  const { log, lines } = capturedLog()
  const [wake, other] = [makeWake({ databaseUrl: proxy.url }, log), makeWake({ databaseUrl: url }, log)]
  t.teardown(() => Promise.all([wake.close(), other.close()]))
  const heard: string[] = []
  let reconnects = 0
  return {
    proxy,
    wake,
    log,
    lines,
    heard,
    reconnects: () => reconnects,
    notify: other.notify,
    listen: () =>
      wake.listen(
        (job) => heard.push(job),
        () => (reconnects += 1),
      ),
  }
}

t.test('the first connection that fails is tried again like one that is lost', async (t) => {
  const { proxy, wake, lines, heard, reconnects, notify, listen } = await listenerBehindProxy(t)
  proxy.turnsAway = 2
  const stop = await listen()
  t.match(lines(), [/"level":"warn".*wake-ups are not received/])
  t.equal(reconnects(), 0)
  await until('it listens', () => reconnects() === 1)
  notify('one')
  await until('the job is heard of', () => heard.length === 1)
  t.equal(proxy.comers, 3)
  await stop()
  await until('its connection is closed', () => proxy.open.size === 0)
  await wake.close()
  t.same(heard, ['one'])
})

t.test('a lost connection is replaced, and the first one is no reconnect', async (t) => {
  const { proxy, wake, heard, reconnects, notify, listen } = await listenerBehindProxy(t)
  await listen()
  notify('one')
  await until('the job is heard of', () => heard.length === 1)
  t.equal(reconnects(), 0)
  for (const socket of proxy.open) socket.destroy()
  await until('it listens again', () => reconnects() === 1)
  notify('two')
  await until('the next job is heard of', () => heard.length === 2)
  await wake.close()
  await until('nothing is left', () => proxy.open.size === 0)
  t.same(heard, ['one', 'two'])
})

t.test(
  'a connection that is lost while it begins to listen is replaced by one, which ends with the others',
  async (t) => {
    const { proxy, wake, lines, heard, reconnects, notify, listen } = await listenerBehindProxy(t)
    proxy.cutsAt = 'listen svc_wake'
    await listen()
    t.equal(lines().length, 1, 'it is reported once')
    await until('it listens', () => reconnects() === 1)
    notify('one')
    await until('the job is heard of', () => heard.length === 1)
    t.equal(proxy.comers, 2)
    t.equal(proxy.open.size, 1)
    await wake.close()
    await until('nothing is left', () => proxy.open.size === 0)
  },
)

t.test('closing ends a first try in progress, and a second one before it begins', async (t) => {
  const { proxy, wake, log, listen } = await listenerBehindProxy(t)
  const listening = listen()
  await wake.close()
  await until('nothing is left', () => proxy.open.size === 0)
  await (
    await listening
  )()
  t.equal(proxy.comers, 1)

  proxy.turnsAway = 2
  const closed = makeWake({ databaseUrl: proxy.url }, log)
  await closed.listen(() => undefined)
  await closed.close()
  const later = makeWake({ databaseUrl: proxy.url }, log)
  t.teardown(() => later.close())
  let isListening = false
  await later.listen(
    () => undefined,
    () => (isListening = true),
  )
  await until('the later one has tried twice', () => isListening)
  t.equal(proxy.comers, 4, 'the closed one has tried once')
})
