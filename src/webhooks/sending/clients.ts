import type { Client } from 'undici'

/**
 * Connections for one request each at a time. Kept by hand because a pool does not tell whether the connection it chose
 * was used before, and a failure on a used one means something else (post.ts).
 */
export type Clients = {
  /** A connection that answered before and is still open, the one used last. */
  take(origin: string): Client | undefined
  make(origin: string): Client
  /** Keeps the connection for the next request to its origin, or closes it where there are enough. */
  giveBack(origin: string, client: Client): void
  /** Closes the connection, and ends the request that is under way on it. */
  discard(client: Client): void
  close(): Promise<void>
}

export function makeClients(options: { make: (origin: string) => Client; idleMax: number }): Clients {
  const idle = new Map<string, Client[]>()
  const open = new Set<Client>()
  let idleCount = 0
  let closed = false

  function forget(origin: string, client: Client): void {
    const list = idle.get(origin)
    const at = list?.indexOf(client) ?? -1
    if (!list || at < 0) return
    list.splice(at, 1)
    idleCount -= 1
    if (list.length === 0) idle.delete(origin)
  }

  function discard(client: Client): void {
    open.delete(client)
    void client.destroy().catch(() => undefined)
  }

  return {
    take: (origin) => {
      const client = idle.get(origin)?.at(-1)
      if (client) forget(origin, client)
      return client
    },
    make: (origin) => {
      const client = options.make(origin)
      open.add(client)
      client.on('disconnect', () => {
        forget(origin, client)
        discard(client)
      })
      return client
    },
    giveBack: (origin, client) => {
      const list = idle.get(origin) ?? []
      if (closed || client.destroyed || idleCount >= options.idleMax) return discard(client)
      list.push(client)
      idle.set(origin, list)
      idleCount += 1
    },
    discard,
    close: async () => {
      closed = true
      await Promise.all([...open].map((client) => client.destroy().catch(() => undefined)))
      open.clear()
      idle.clear()
    },
  }
}
