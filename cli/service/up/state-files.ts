import { once } from 'node:events'
import { chownSync, readFileSync, statSync, writeFileSync } from 'node:fs'
import { createServer } from 'node:net'
import { join } from 'node:path'
import { z } from 'zod'
import { freePort, isFree } from '../../../src/db/free-port.ts'

/** A file made by root belongs to the owner of the directory, who must be able to start the service the next time. */
export function ownLike(stateDir: string, file: string): void {
  if (process.getuid?.() !== 0) return
  const { uid, gid } = statSync(stateDir)
  chownSync(file, uid, gid)
}

export function logFile(stateDir: string): string {
  return join(stateDir, 'svc.log')
}

const Port = z.int().min(1).max(65_535)

function portFile(stateDir: string): string {
  return join(stateDir, 'port')
}

/** Where the API of this directory listened last; undefined before its first start. */
export function rememberedPort(stateDir: string): number | undefined {
  try {
    return Port.parse(JSON.parse(readFileSync(portFile(stateDir), 'utf8')))
  } catch {
    return undefined
  }
}

export function rememberPort(stateDir: string, port: number): void {
  writeFileSync(portFile(stateDir), `${port}\n`, { mode: 0o600 })
  ownLike(stateDir, portFile(stateDir))
}

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
 * @param isRetry the port of the first try was taken by another process in the meantime
 */
export async function choosePort(stateDir: string, { isRetry }: { isRetry: boolean }): Promise<number> {
  const last = isRetry ? undefined : rememberedPort(stateDir)
  return last !== undefined && (await isFree(last)) ? last : freePort()
}
