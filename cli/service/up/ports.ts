import { once } from 'node:events'
import { createServer } from 'node:net'
import { freePort, isFree } from '../../../src/db/free-port.ts'
import { rememberedPort } from './state-files.ts'

const HOST = '127.0.0.1'

/**
 * Makes sure that a port can be listened on, before anything else is started for nothing.
 * @throws with code EADDRINUSE or EACCES as the operating system says
 */
export async function checkPort(port: number): Promise<void> {
  const server = createServer()
  server.listen({ port, host: HOST, exclusive: true })
  await once(server, 'listening')
  server.close()
  await once(server, 'close')
}

/**
 * The port for `--port 0`. Payers' addresses carry it, so it is chosen before the API listens, and the one of the last
 * start is taken again where it is free: links that were given out then stay good.
 * @param isRetry the port of the first try was taken by somebody in the meantime
 */
export async function choosePort(stateDir: string, { isRetry }: { isRetry: boolean }): Promise<number> {
  const last = isRetry ? undefined : rememberedPort(stateDir)
  return last !== undefined && (await isFree(last)) ? last : freePort()
}
