import { once } from 'node:events'
import { connect, createServer } from 'node:net'
import type { AddressInfo, Socket } from 'node:net'
import type { Test } from 'tap'

/** A proxy in front of the service whose connections can be cut, as by a failure of the network or the service, and restored. */
export type CutProxy = { url: string; cut(): Promise<void>; restore(): Promise<void> }

export async function cutProxy(t: Test, url: string): Promise<CutProxy> {
  const { port } = new URL(url)
  const sockets = new Set<Socket>()
  const server = createServer((near) => {
    const far = connect(Number(port), '127.0.0.1')
    for (const [socket, other] of [
      [near, far],
      [far, near],
    ] as const) {
      sockets.add(socket)
      socket.pipe(other)
      socket.on('error', () => other.destroy())
      socket.on('close', () => {
        sockets.delete(socket)
        other.destroy()
      })
    }
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  // A server that listens on a port has one.
  const { port: own } = server.address() as AddressInfo
  async function cut(): Promise<void> {
    for (const socket of sockets) socket.destroy()
    if (!server.listening) return
    server.close()
    await once(server, 'close')
  }
  t.teardown(cut)
  return {
    url: `http://127.0.0.1:${own}`,
    cut,
    async restore() {
      server.listen(own, '127.0.0.1')
      await once(server, 'listening')
    },
  }
}
