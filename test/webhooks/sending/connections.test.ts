import { once } from 'node:events'
import { connect, createServer } from 'node:net'
import type { AddressInfo } from 'node:net'
import t from 'tap'
import { makeConnections } from '../../../src/webhooks/sending/connections.ts'
import type { Exchange } from '../../../src/webhooks/sending/connections.ts'
import { readIntoOne } from '../../../src/webhooks/sending/reads.ts'
import { until } from '../../support/until.ts'

t.test('what a server says before the request is not the response, and the request is not sent', async (t) => {
  const received: Buffer[] = []
  let closed = 0
  const server = createServer((socket) => {
    socket.on('data', (bytes) => received.push(bytes))
    socket.on('close', () => (closed += 1))
    socket.write('HTTP/1.1 200 OK\r\ncontent-length: 0\r\n\r\n')
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  t.teardown(() => server.close())
  // A server that listens on a port has one.
  const { port } = server.address() as AddressInfo
  const socket = connect({ port, host: '127.0.0.1', onread: readIntoOne() })
  await until('it has spoken', () => socket.bytesRead > 0)
  const connections = makeConnections({ idleMax: 1 })
  const connection = connections.add('http://early.example', socket)
  const ended: Exchange[] = []
  connection.exchange(Buffer.from('POST / HTTP/1.1\r\n\r\n'), { isHead: false }, (exchange) => ended.push(exchange))
  await until('it has ended', () => ended.length === 1 && closed === 1)
  t.equal(ended[0]?.response.isInvalid(), true)
  t.equal(ended[0]?.response.status(), null)
  t.same(received, [])
  connections.giveBack('http://early.example', connection)
  t.equal(connections.take('http://early.example'), undefined)
})
