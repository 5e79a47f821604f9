import { createServer } from 'node:net'
import type { AddressInfo, Socket } from 'node:net'
import { ready } from '../support/measured-process.ts'

/**
 * A webhook receiver that answers 200 and counts. A bare socket server, because it shares the machine with the senders:
 * an HTTP server would cost as much as they do.
 */
const ANSWER = 'HTTP/1.1 200 OK\r\ncontent-length: 0\r\n\r\n'

/** Requests to this path get no answer, and are not counted. */
const HANGING = 'POST /hanging '

/** The rate is measured between two fractions of the expected count, so that start and end do not matter. */
const FROM = 0.1
const TO = 0.95

let expected = Infinity
let count = 0
let fromAt = 0

function onRequest(): void {
  count += 1
  if (count === Math.ceil(expected * FROM)) {
    fromAt = performance.now()
    process.send?.({ name: 'begun' })
  }
  if (count === Math.ceil(expected * TO)) {
    const counted = Math.ceil(expected * TO) - Math.ceil(expected * FROM)
    process.send?.({ name: 'counted', counted, rate: counted / ((performance.now() - fromAt) / 1000) })
  }
}

function serve(socket: Socket): void {
  let received = ''
  socket.setNoDelay(true)
  socket.setEncoding('latin1')
  socket.on('error', () => socket.destroy())
  socket.on('data', (chunk: string) => {
    received += chunk
    for (let size = requestSize(received); size !== undefined; size = requestSize(received)) {
      const hangs = received.startsWith(HANGING)
      received = received.slice(size)
      if (hangs) continue
      socket.write(ANSWER)
      onRequest()
    }
  })
}

/** The length of the first request in the text, or undefined while it is incomplete. */
function requestSize(text: string): number | undefined {
  const end = text.indexOf('\r\n\r\n')
  if (end < 0) return undefined
  const length = Number(/\r\ncontent-length: (\d+)/i.exec(text.slice(0, end))?.[1] ?? 0)
  return text.length < end + 4 + length ? undefined : end + 4 + length
}

const server = createServer(serve)
server.listen(0, '127.0.0.1', () => {
  ready({ port: (server.address() as AddressInfo).port }, async () => server.close())
})

process.on('message', (message: { name?: string; count?: number }) => {
  if (message.name !== 'expect') return
  expected = message.count ?? Infinity
  count = 0
  process.send?.({ name: 'expecting' })
})
