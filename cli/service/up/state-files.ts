import { chownSync, readFileSync, statSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { z } from 'zod'

/** A file made by root belongs to the owner of the directory, who must be able to start the service the next time. */
export function ownLike(stateDir: string, file: string): void {
  if (process.getuid?.() !== 0) return
  const { uid, gid } = statSync(stateDir)
  chownSync(file, uid, gid)
}

/** What a detached service says. */
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
