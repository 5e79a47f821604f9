import { createServer } from 'node:net'
import type { AddressInfo, Socket } from 'node:net'
import { ready } from '../support/measured-process.ts'

/**
 * A webhook receiver that responds 200 and counts, where nginx is not installed. A bare socket server, because it shares the
 * machine with the senders: an HTTP server would cost as much as they do.
 */
const ANSWER = 'HTTP/1.1 200 OK\r\ncontent-length: 0\r\n\r\n'

let requests = 0

/** Text in the form of nginx's stub_status. */
function statusAnswer(): string {
  const body = `Active connections: 1\nserver accepts handled requests\n 1 1 ${requests}\n`
  return `HTTP/1.1 200 OK\r\ncontent-length: ${body.length}\r\n\r\n${body}`
}

function serve(socket: Socket): void {
  let received = ''
  socket.setNoDelay(true)
  socket.setEncoding('latin1')
  socket.on('error', () => socket.destroy())
  socket.on('data', (chunk: string) => {
    received += chunk
    for (let size = requestSize(received); size !== undefined; size = requestSize(received)) {
      requests += 1
      socket.write(received.startsWith('GET /status ') ? statusAnswer() : ANSWER)
      received = received.slice(size)
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
