import type { Socket } from 'node:net'
import { readWith } from './reads.ts'
import { makeResponseReader } from './response.ts'
import type { ResponseReader } from './response.ts'

/** How an exchange ended: with the response, or with the error that ended the connection before one. */
export type Exchange = { response: ResponseReader; error: Error | undefined }

/** An HTTP/1.1 connection that carries one exchange at a time, without pipelining. */
export type Connection = {
  /** Sends a request and calls `ended` once, later. Returns what reads the response, until the next exchange begins. */
  exchange(request: Buffer, options: { isHead: boolean }, ended: (exchange: Exchange) => void): ResponseReader
  /** Whether it is open, and the server can't be about to close it. */
  isReusable(): boolean
  /** Closes it, which ends an exchange in progress. */
  destroy(): void
}

/** An idle connection is closed after this time. */
const IDLE_MS = 4_000

/** @param onClosed is called once the connection is closed */
function makeConnection(socket: Socket, onClosed: (connection: Connection) => void): Connection {
  const response = makeResponseReader()
  /** Undefined while no exchange is in progress. */
  let ended: ((exchange: Exchange) => void) | undefined
  let error: Error | undefined
  let reusableUntil = 0

  function finish(isComplete: boolean): void {
    if (ended === undefined) return
    const report = ended
    reusableUntil = isComplete ? performance.now() + response.reusableSeconds() * 1_000 : 0
    ended = undefined
    report({ response, error })
  }

  /** What came before the request is not the response to it, and looks like one that comes after. */
  function refuse(): void {
    response.invalidate()
    socket.destroy()
  }

  const connection: Connection = {
    exchange: (request, options, onEnded) => {
      response.begin(options)
      ended = onEnded
      if (spokeEarly) refuse()
      else socket.write(request)
      return response
    },
    isReusable: () => socket.writable && performance.now() < reusableUntil,
    destroy: () => socket.destroy(),
  }

  socket.setTimeout(IDLE_MS)
  const { spokeEarly } = readWith(socket, (bytes) => {
    // Bytes that no request asked for would be read as the next response.
    if (ended === undefined) socket.destroy()
    else if (response.read(bytes)) finish(true)
  })
  socket.on('timeout', () => {
    // While a request is in progress the attempt's own deadline applies.
    if (ended === undefined) socket.destroy()
  })
  socket.on('error', (cause) => (error = cause))
  socket.on('end', () => finish(false))
  socket.on('close', () => {
    finish(false)
    onClosed(connection)
  })
  return connection
}

/** Idle connections by origin. */
export type Connections = {
  /** The most recently used idle connection, if any. */
  take(origin: string): Connection | undefined
  add(origin: string, socket: Socket): Connection
  /** Keeps the connection for the next request to its origin, or closes it. */
  giveBack(origin: string, connection: Connection): void
  /** Closes all connections, and whatever is added later. */
  close(): void
}

export function makeConnections({ idleMax }: { idleMax: number }): Connections {
  const idle = new Map<string, Connection[]>()
  const open = new Set<Connection>()
  let idleCount = 0
  let isClosed = false

  function forget(origin: string, connection: Connection): void {
    open.delete(connection)
    const list = idle.get(origin)
    if (list === undefined) return
    const at = list.indexOf(connection)
    if (at >= 0) {
      list.splice(at, 1)
      idleCount -= 1
    }
    if (list.length === 0) idle.delete(origin)
  }

  return {
    take: (origin) => {
      const list = idle.get(origin)
      for (let connection = list?.pop(); connection !== undefined; connection = list?.pop()) {
        idleCount -= 1
        if (connection.isReusable()) return connection
        connection.destroy()
      }
      return undefined
    },
    add: (origin, socket) => {
      const connection = makeConnection(socket, (closed) => forget(origin, closed))
      open.add(connection)
      if (isClosed) connection.destroy()
      return connection
    },
    giveBack: (origin, connection) => {
      if (isClosed || idleCount >= idleMax || !connection.isReusable()) return connection.destroy()
      const list = idle.get(origin)
      if (list === undefined) idle.set(origin, [connection])
      else list.push(connection)
      idleCount += 1
    },
    close: () => {
      isClosed = true
      for (const connection of open) connection.destroy()
    },
  }
}
