import { createHash } from 'node:crypto'
import { createServer } from 'node:http'
import type { ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { verifySignature } from '../../src/lib/webhook-signature.ts'

/** How a shop's server answers webhooks. */
export const MANNERS = [
  'good',
  'good',
  'good',
  'failing',
  'dropping',
  'slow',
  'redirecting',
  'garbage',
  'hanging',
  'flooding',
] as const
export type Manner = (typeof MANNERS)[number]
/** More than is read of a response; its status counts all the same. */
const FLOOD = Buffer.alloc(2 ** 20, 'x')
const ACCEPTING: ReadonlySet<Manner> = new Set(['good', 'slow', 'flooding'])

/** A webhook as a shop received it. `isAccepted`: it has answered 200. */
export type Receipt = {
  shop: number
  eventId: string
  hash: string
  at: number
  isAccepted: boolean
  isSigned: boolean
}

export type Shop = { manner: Manner; secrets: string[] }

export type Shops = { url(shop: number): string; receipts: Receipt[]; heal(): void; close(): void }

/** The servers of all shops, in one process: each path is one. Every request is kept with what the shop made of it. */
export async function startShops(shops: readonly Shop[], random: () => number): Promise<Shops> {
  const receipts: Receipt[] = []
  let isHealed = false
  const server = createServer((request, response) => {
    if (request.method === 'HEAD') return void response.writeHead(405).end()
    const number = Number(request.url?.slice(1))
    const shop = shops[number]
    if (shop === undefined) return void response.writeHead(404).end()
    const chunks: Buffer[] = []
    request.on('data', (chunk: Buffer) => chunks.push(chunk))
    request.on('end', () => {
      const body = Buffer.concat(chunks)
      const signatures = ['x-service-signature', 'x-service-signature-previous'].flatMap(
        (name) => request.headers[name] ?? [],
      )
      const isSigned = signatures.some((signature) =>
        shop.secrets.some((secret) => verifySignature({ secret, body, signature })),
      )
      const manner = isHealed || random() < 0.5 ? 'good' : shop.manner
      receipts.push({
        shop: number,
        eventId: String(request.headers['webhook-id']),
        hash: createHash('sha256').update(body).digest('hex'),
        at: Date.now(),
        isAccepted: ACCEPTING.has(manner),
        isSigned,
      })
      answer(manner, response)
    })
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const { port } = server.address() as AddressInfo
  return {
    url: (shop) => `http://127.0.0.1:${port}/${shop}`,
    receipts,
    heal: () => void (isHealed = true),
    close: () => {
      server.closeAllConnections()
      server.close()
    },
  }
}

function answer(manner: Manner, response: ServerResponse): void {
  if (manner === 'good') response.writeHead(200).end('ok')
  else if (manner === 'failing') response.writeHead(500).end()
  else if (manner === 'dropping') response.destroy()
  else if (manner === 'redirecting') response.writeHead(302, { location: 'http://127.0.0.1:1/' }).end()
  else if (manner === 'slow') setTimeout(() => response.writeHead(200).end(), 1_500)
  else if (manner === 'flooding') response.writeHead(200).end(FLOOD)
  else if (manner === 'garbage') response.socket?.end('HTP/9 nonsense\r\n\r\n')
  // One that hangs is given up by the service after its time-out.
}
