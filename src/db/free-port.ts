import { randomInt } from 'node:crypto'
import { createServer } from 'node:net'

/** Whether nothing listens on this port of the loopback interface. */
export const isFree = (port: number): Promise<boolean> => {
  const { promise, resolve } = Promise.withResolvers<boolean>()
  const server = createServer()
  server.once('error', () => resolve(false))
  server.listen({ port, host: '127.0.0.1', exclusive: true }, () => server.close(() => resolve(true)))
  return promise
}

// From 32768 up Linux hands ports to outgoing connections, which could take ours between two starts.
const lowest = 20_000
const above = 32_000
const attemptsMax = 50

/** A port of the loopback interface that is free now and that no outgoing connection will take. */
export const freePort = async (): Promise<number> => {
  for (let attempt = 0; attempt < attemptsMax; attempt += 1) {
    const port = randomInt(lowest, above)
    if (await isFree(port)) return port
  }
  throw new Error(`No free port found between ${lowest} and ${above} on 127.0.0.1.`)
}
