import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { closeSync, existsSync, mkdirSync, openSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { z } from 'zod'
import type { App } from '../../../src/app.ts'
import { registerAtBank } from '../../../src/banks/connections/register-at-bank.ts'
import { freePort } from '../../../src/db/free-port.ts'
import { DomainError } from '../../../src/lib/errors.ts'
import { packageRoot } from '../../../src/lib/package-root.ts'
import { CliError } from '../../base/errors.ts'

const READY_TIMEOUT_MS = 30_000
const COLLECTION_ACCOUNT = 'UK.OBIE.SortCodeAccountNumber:20000055779911:Demo Collections'

const Ports = z.object({ port: z.int(), controlPort: z.int() })
const Ready = z.object({
  ready: z.literal(true),
  issuer: z.string(),
  controlUrl: z.string(),
  profiles: z.string(),
  softwareStatement: z.string(),
})

export type RunningModelBank = {
  /** What the service is configured with to use it. */
  env: Record<string, string>
  issuer: string
  controlUrl: string
  stop(): Promise<void>
}

/**
 * Starts the model bank beside the service, as a process of its own with keys and books in the state directory: a bank that
 * is reached as a real one is (docs/operators/model-bank.md).
 * @throws {CliError} where it does not start
 */
export async function startModelBank(
  stateDir: string,
  { redirectUri, version, env }: { redirectUri: string; version: '4.0' | '3.1'; env: NodeJS.ProcessEnv },
): Promise<RunningModelBank> {
  const dir = join(stateDir, 'model-bank')
  mkdirSync(dir, { recursive: true, mode: 0o700 })
  const { port, controlPort } = await portsOf(join(dir, 'ports.json'))
  const log = openSync(join(dir, 'log.txt'), 'a', 0o600)
  const main = join(packageRoot(), 'dist', 'src', 'model-bank', 'main.js')
  const options = { dir, port, 'control-port': controlPort, 'redirect-uri': redirectUri, version }
  const words = Object.entries(options).flatMap(([name, value]) => [`--${name}`, String(value)])
  const child = spawn(process.execPath, [main, ...words, '--until-stdin-ends'], { stdio: ['pipe', 'pipe', log], env })
  closeSync(log)
  const ended = once(child, 'exit')
  const stop = async (): Promise<void> => {
    child.kill('SIGTERM')
    await ended
  }
  const line = child.stdout === null ? undefined : await firstLine(child.stdout)
  const ready = Ready.safeParse(line === undefined ? undefined : JSON.parse(line))
  if (!ready.success) {
    await stop()
    throw new CliError('MODEL_BANK_NOT_READY', `the model bank does not start; see ${join(dir, 'log.txt')}`)
  }
  const { issuer, controlUrl, profiles, softwareStatement } = ready.data
  const variables = {
    SVC_BANK_PROFILES: profiles,
    SVC_BANK_SOFTWARE_STATEMENT: softwareStatement,
    SVC_COLLECTION_ACCOUNT: env['SVC_COLLECTION_ACCOUNT'] || COLLECTION_ACCOUNT,
  }
  return { env: variables, issuer, controlUrl, stop }
}

/** The ports of an earlier start, which the bank's name and certificate have in them. */
async function portsOf(file: string): Promise<z.infer<typeof Ports>> {
  if (existsSync(file)) return Ports.parse(JSON.parse(readFileSync(file, 'utf8')))
  const ports = { port: await freePort(), controlPort: await freePort() }
  writeFileSync(file, JSON.stringify(ports), { mode: 0o600 })
  return ports
}

/** Undefined where the process ends, or the time is over, before it has written one. */
async function firstLine(output: NodeJS.ReadableStream): Promise<string | undefined> {
  const lines = createInterface({ input: output })
  const timer = setTimeout(() => lines.close(), READY_TIMEOUT_MS)
  try {
    for await (const line of lines) return line
    return undefined
  } finally {
    clearTimeout(timer)
    output.resume()
  }
}

/** Registers the platform at the model bank, unless an earlier start has. */
export async function registerAtModelBank(app: App): Promise<void> {
  const actor = { id: 'svc up', name: 'svc up', role: 'OWNER' }
  try {
    await registerAtBank(app, { bankId: 'model', replace: false, reason: 'svc up --bank model', actor })
  } catch (error) {
    if (!(error instanceof DomainError && error.code === 'BANK_ALREADY_REGISTERED')) throw error
  }
}
