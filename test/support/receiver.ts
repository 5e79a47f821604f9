import { createServer } from 'node:http'
import type { IncomingHttpHeaders, IncomingMessage, ServerResponse } from 'node:http'

export type Receipt = { headers: IncomingHttpHeaders; body: Buffer; path: string; eventId: string; at: number }

export type Receiver = {
  url: string
  port: number
  receipts: Receipt[]
  /** The most requests that were under way at one moment, and the connections that were made. */
  peak(): number
  connections(): number
  close(): Promise<void>
}

type Answer = (request: {
  receipt: Receipt
  response: ServerResponse
  incoming: IncomingMessage
  count: number
}) => unknown

const answerOk: Answer = ({ response }) => response.writeHead(200).end('ok')

/** A merchant's server on loopback that keeps its requests and gives the chosen responses. */
export async function startReceiver(
  t: { teardown(handler: () => unknown): unknown },
  answer: Answer = answerOk,
): Promise<Receiver> {
  const receipts: Receipt[] = []
  let underWay = 0
  let peak = 0
  let connections = 0
  const server = createServer({ keepAliveTimeout: 10_000 }, (incoming, response) => {
    // The check of an endpoint is no delivery.
    if (incoming.method === 'HEAD') return void response.writeHead(405).end()
    underWay += 1
    peak = Math.max(peak, underWay)
    response.once('close', () => (underWay -= 1))
    const chunks: Buffer[] = []
    incoming.on('data', (chunk: Buffer) => chunks.push(chunk))
    incoming.on('end', () => {
      const body = Buffer.concat(chunks)
      const eventId = String(incoming.headers['webhook-id'])
      const receipt = { headers: incoming.headers, body, path: incoming.url ?? '', eventId, at: performance.now() }
      receipts.push(receipt)
      answer({ receipt, response, incoming, count: receipts.length })
    })
  })
  server.on('connection', () => (connections += 1))
  const port = await new Promise<number>((resolve) => {
    server.listen(0, '127.0.0.1', () => {
      const address = server.address()
      resolve(typeof address === 'object' && address !== null ? address.port : 0)
    })
  })
  async function close(): Promise<void> {
    server.closeAllConnections()
    await new Promise((resolve) => server.close(resolve))
  }
  t.teardown(close)
  return {
    url: `http://127.0.0.1:${port}/hook`,
    port,
    receipts,
    peak: () => peak,
    connections: () => connections,
    close,
  }
}
