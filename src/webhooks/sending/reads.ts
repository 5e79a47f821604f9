import type { OnReadOpts, Socket } from 'node:net'

/** What was read from a connection. The bytes are valid during the call only: the next read overwrites them. */
export type OnRead = (bytes: Buffer) => void

const READ_BYTES = 64 * 1024

const readers = new WeakMap<Socket, OnRead>()
/** Connections whose server spoke before anything was asked of it. */
const early = new WeakSet<Socket>()

/**
 * The option of a connection by which it is read into one buffer that all connections share, without a stream: a buffer and
 * an event of its own for each read cost a third of receiving a response.
 */
export function readIntoOne(): OnReadOpts {
  const buffer = Buffer.allocUnsafe(READ_BYTES)
  return {
    buffer,
    callback(this: Socket, size) {
      const bytes = buffer.subarray(0, size)
      const read = readers.get(this)
      if (read !== undefined) read(bytes)
      else early.add(this)
      return true
    },
  }
}

/** Gives what is read from the connection to `read`. Returns whether something was read before, which is lost. */
export function readWith(socket: Socket, read: OnRead): { spokeEarly: boolean } {
  readers.set(socket, read)
  return { spokeEarly: early.has(socket) }
}
