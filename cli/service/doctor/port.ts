import { once } from 'node:events'
import { connect } from 'node:net'
import { z } from 'zod'
import { getService } from '../../../src/wire/service.ts'
import { rememberedPort } from '../up/state-files.ts'
import { finding, ok, skipped } from './check.ts'
import type { Verdict } from './check.ts'
import type { DoctorTarget } from './target.ts'
import { probe } from './probe.ts'

const CONNECT_TIMEOUT_MS = 1_000
/** Where svc up listens unless it is told otherwise. */
const DEFAULT_PORT = 8080

/** Whether the port of the API is free, or taken by the service that it is for. */
export async function checkPort(target: DoctorTarget): Promise<Verdict> {
  const { by, state, config, context } = target
  if (state !== undefined) return ofRunning(state.api_url)
  if (by === 'name') return skipped('the service that was named listens elsewhere')
  const { host, port } = config ?? { host: '127.0.0.1', port: rememberedPort(context.stateDir) ?? DEFAULT_PORT }
  const at = `port ${port} of ${host}${config === undefined ? notOfUp(context.io.env, port) : ''}`
  const listener = await whoListens(reachable(host), port)
  if (listener === 'nobody') return ok(`${at} is free`)
  if (listener === 'svc' && by === 'environment') return ok(`svc listens at ${at}`)
  const who = listener === 'svc' ? 'another svc' : 'another program'
  return finding(`${at} is taken by ${who}`, await elsewhere(by))
}

/** The variable is svc serve's: whoever has set it looks for its port here. */
function notOfUp({ SVC_PORT: named = '' }: NodeJS.ProcessEnv, port: number): string {
  return named === '' || named === String(port) ? '' : ` (SVC_PORT is for svc serve; svc up takes --port ${named})`
}

async function ofRunning(apiUrl: string): Promise<Verdict> {
  const { hostname, port } = new URL(apiUrl)
  const listener = await whoListens(hostname.replaceAll(/[[\]]/g, ''), Number.parseInt(port || '80', 10))
  if (listener === 'svc') return ok(`the service listens at ${apiUrl}`)
  const text = listener === 'nobody' ? `nothing listens at ${apiUrl}` : `another program listens at ${apiUrl}`
  return finding(`${text}, and the process of the service is there`, 'svc down && svc up --port 0 --detach')
}

async function elsewhere(by: DoctorTarget['by']): Promise<string> {
  if (by !== 'environment') return 'svc up --port 0'
  const { freePort } = await import('../../../src/db/free-port.ts')
  return `export SVC_PORT=${await freePort()}`
}

/** Where an address that means all of them is reached from here. */
function reachable(host: string): string {
  return { '0.0.0.0': '127.0.0.1', '::': '::1' }[host] ?? host
}

const Named = z.looseObject({ name: z.literal('svc') })

async function whoListens(host: string, port: number): Promise<'nobody' | 'svc' | 'somebody'> {
  if (!(await takesConnections(host, port))) return 'nobody'
  const probed = await probe(`http://${host.includes(':') ? `[${host}]` : host}:${port}${getService.path}`)
  return probed.status !== undefined && Named.safeParse(probed.json).success ? 'svc' : 'somebody'
}

/** Whether something takes connections there; nothing is said to it. */
export async function takesConnections(host: string, port: number): Promise<boolean> {
  const socket = connect({ host, port })
  try {
    await once(socket, 'connect', { signal: AbortSignal.timeout(CONNECT_TIMEOUT_MS) })
    return true
  } catch {
    return false
  } finally {
    socket.destroy()
  }
}
