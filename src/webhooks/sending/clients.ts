import type { Client } from 'undici'

/**
 * Keep-alive connections with one request each at a time. Managed here, because undici's pool does not report whether a
 * connection was used before, and a failure on a reused one has another meaning (post.ts).
 */
export type Clients = {
  /** The most recently used idle connection, if any. */
  take(origin: string): Client | undefined
  make(origin: string): Client
  /** Keeps the connection for the next request to its origin, or closes it if enough are idle. */
  giveBack(origin: string, client: Client): void
  /** Closes the connection, and aborts a request in progress on it. */
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
