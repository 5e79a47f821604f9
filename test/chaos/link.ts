import { once } from 'node:events'
import { connect, createServer } from 'node:net'
import type { AddressInfo, Socket } from 'node:net'
import { setTimeout as delay } from 'node:timers/promises'

/** What each round trip over a slow link waits about. */
const SLOW_MS = 200

/** A link to PostgreSQL that can be cut, made silent (nothing passes, and no side learns of it), and made slow. */
export type Link = {
  port: number
  cut(): void
  silence(ms: number): Promise<void>
  slow(ms: number): Promise<void>
  close(): Promise<void>
}

export async function makeLink(target: number): Promise<Link> {
  const pairs = new Set<readonly [Socket, Socket]>()
  let silentUntil: Promise<void> | undefined
  const server = createServer((near) => {
    const far = connect(target, '127.0.0.1')
    const pair = [near, far] as const
    pairs.add(pair)
    near.pipe(far)
    far.pipe(near)
    for (const [one, other] of [pair, [far, near] as const]) {
      one.on('error', () => other.destroy())
      one.on('close', () => {
        pairs.delete(pair)
        other.destroy()
      })
    }
    if (silentUntil !== undefined) for (const socket of pair) socket.pause()
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  // A server that listens on a port has one.
  const { port } = server.address() as AddressInfo
  const each = (work: (socket: Socket) => void): void => [...pairs].flat().forEach((socket) => work(socket))
  return {
    port,
    cut: () => each((socket) => socket.destroy()),
    silence: async (ms) => {
      silentUntil = new Promise((resolve) => setTimeout(resolve, ms))
      each((socket) => socket.pause())
      await silentUntil
      silentUntil = undefined
      each((socket) => socket.resume())
    },
    slow: async (ms) => {
      const until = Date.now() + ms
      while (Date.now() < until) {
        each((socket) => socket.pause())
        await delay(SLOW_MS)
        each((socket) => socket.resume())
        await delay(SLOW_MS / 10)
      }
    },
    close: async () => {
      each((socket) => socket.destroy())
      server.close()
      await once(server, 'close')
    },
  }
}
