import type { OnReadOpts, Socket } from 'node:net'

/** What was read from a connection. The bytes are valid during the call only: the next read overwrites them. */
export type OnRead = (bytes: Buffer) => void

const READ_BYTES = 64 * 1024

const readers = new WeakMap<Socket, OnRead>()
/** What a server sent before anything was asked of it, copied. */
const early = new WeakMap<Socket, Buffer>()

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
      // Such a connection is of no use, and more than its first bytes need not be known.
      else early.set(this, Buffer.concat([early.get(this) ?? Buffer.alloc(0), bytes]).subarray(0, READ_BYTES))
      return true
    },
  }
}

/** Gives what is read from the connection to `read`; what has been read before, a moment later. */
export function readWith(socket: Socket, read: OnRead): void {
  readers.set(socket, read)
  const bytes = early.get(socket)
  if (bytes !== undefined) setImmediate(() => read(bytes))
}
