import { connect } from 'node:net'
import type { Socket } from 'node:net'

export type RawAnswer = {
  /** Everything the server sent. */
  text: string
  status: number | undefined
  /** Whether the server ended the connection before the deadline. */
  closed: boolean
}

/** A connection that says what no HTTP client would. */
export function rawSocket(port: number): Socket {
  return connect(port, '127.0.0.1')
}

/** Sends bytes as they are and listens until the server closes the connection, or for `ms`. */
export async function rawRequest(port: number, bytes: string | Buffer, ms = 30_000): Promise<RawAnswer> {
  const socket = rawSocket(port)
  socket.write(bytes)
  return listenTo(socket, ms)
}

/** Listens until the server closes the connection, or what it has sent `isEnough`, or for `ms`. */
export function listenTo(
  socket: Socket,
  ms: number,
  isEnough: (text: string) => boolean = () => false,
): Promise<RawAnswer> {
  return new Promise((resolve) => {
    const chunks: Buffer[] = []
    const finish = (closed: boolean) => {
      clearTimeout(timer)
      const text = Buffer.concat(chunks).toString('latin1')
      const status = /^HTTP\/1\.1 (\d{3})/.exec(text)?.[1]
      resolve({ text, status: status === undefined ? undefined : Number(status), closed })
      socket.destroy()
    }
    const timer = setTimeout(() => finish(false), ms)
    socket.on('data', (chunk: Buffer) => {
      chunks.push(chunk)
      if (isEnough(Buffer.concat(chunks).toString('latin1'))) finish(false)
    })
    socket.on('error', () => finish(true))
    socket.on('close', () => finish(true))
  })
}
