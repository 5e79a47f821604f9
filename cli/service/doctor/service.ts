import { z } from 'zod'
import { packageVersion } from '../../../src/lib/package-root.ts'
import { ServiceInfo, getService } from '../../../src/wire/service.ts'
import { finding, ok, remark, skipped } from './check.ts'
import type { Check } from './check.ts'
import { clockCheck } from './clock.ts'
import type { Database } from './database-connection.ts'
import type { DoctorTarget } from './target.ts'
import { probe } from './probe.ts'
import type { Probed } from './probe.ts'
import { runCheck } from './timed.ts'
import { checkWorker } from './worker.ts'

/** A newer service may tell more. */
const Info = z.looseObject(ServiceInfo.pick({ version: true, mode: true }).shape)
const Readiness = z.looseObject({ status: z.string(), database: z.string().optional() })

export async function checkService(target: DoctorTarget, database: Database | undefined): Promise<Check[]> {
  const { url, config, by } = target
  const configuration = by === 'environment' ? [checkConfiguration(target)] : []
  if (url === undefined) return [...configuration, checkNothing(target)]
  const asked = probe(`${url}${getService.path}`)
  return [
    ...configuration,
    ...(await Promise.all([
      runCheck('running', async () => checkRunning(target, url, await asked)),
      runCheck('ready', async () => checkReady(target, await probe(`${url}/readyz`))),
      runCheck('service clock', async () => checkClock(await asked)),
      runCheck('api tls', () => checkTls(target, url)),
      runCheck('proxy', () => checkProxy(target, config)),
      runCheck('worker', async () => checkWorker(target, database, isSvc(await asked))),
    ])),
  ]
}

function checkConfiguration({ configProblem }: DoctorTarget): Check {
  if (configProblem === undefined) return ok('configuration', 'the environment is what svc serve needs')
  const name = /SVC_[A-Z_]+[A-Z]/.exec(configProblem)?.[0] ?? 'SVC_DATABASE_URL'
  return finding('configuration', configProblem, `export ${name}=<value>`)
}

function checkNothing({ by, context: { stateDir } }: DoctorTarget): Check {
  if (by === 'environment') return skipped('running', 'the environment does not say where it is')
  return finding('running', `no service runs here (looked in ${stateDir}), and none is named or configured`, 'svc up')
}

function isSvc(probed: Probed): boolean {
  return probed.status === 200 && Info.safeParse(probed.json).success
}

function checkRunning(target: DoctorTarget, url: string, probed: Probed): Check {
  if (probed.status === undefined) return finding('running', `${probed.why}${proxyNote(target)}`, startCommand(target))
  const { data } = Info.safeParse(probed.json)
  if (probed.status !== 200 || data === undefined)
    return finding('running', `${url} answers ${probed.status}, and is no svc`, startCommand(target))
  const ours = packageVersion()
  const text = `svc ${data.version} in ${data.mode} mode at ${url}`
  if (data.version === ours) return ok('running', text)
  return remark(
    'running',
    `${text}; this command line is ${ours}`,
    `the command line of svc ${data.version}: the package that the service runs from`,
  )
}

/** What brings the service up, or leads to another one. */
export function startCommand({ by, profile }: DoctorTarget): string {
  if (by === 'state directory') return 'svc down && svc up --detach'
  if (by === 'environment') return 'svc serve'
  return profile === undefined ? 'export SVC_API_URL=<address of the service>' : 'svc profile list'
}

function checkReady(target: DoctorTarget, probed: Probed): Check {
  if (probed.status === undefined) return skipped('ready', 'nothing answers')
  const { data } = Readiness.safeParse(probed.json)
  if (data === undefined) return skipped('ready', `it answered ${probed.status}, and not whether it is ready`)
  if (data.status === 'ready') return ok('ready', 'it reaches its database')
  return finding('ready', `it is not ready: its database is ${data.database ?? 'away'}`, startCommand(target))
}

function checkClock(probed: Probed): Check {
  if (probed.status === undefined) return skipped('service clock', 'nothing answers')
  if (probed.aheadMs === undefined) return skipped('service clock', 'it does not say what time it is')
  return clockCheck('service clock', probed.aheadMs)
}

const LOOPBACK = /^(localhost|127(\.\d+){3}|\[::1\])$/

export function isLoopback(url: string): boolean {
  return LOOPBACK.test(new URL(url).hostname)
}

/** What proves who commands act as travels there. */
function checkTls({ profile }: DoctorTarget, url: string): Check {
  if (url.startsWith('https:')) return ok('api tls', 'commands speak to it encrypted')
  if (isLoopback(url)) return ok('api tls', 'it is on this machine, where none is needed')
  const secure = url.replace(/^http:/, 'https:')
  return finding(
    'api tls',
    `credentials travel to ${url} in clear`,
    profile === undefined ? `export SVC_API_URL=${secure}` : `svc login --profile ${profile.name} --api-url ${secure}`,
  )
}

/** Of the service, which never speaks TLS itself: whether it believes the proxy that does. */
function checkProxy(target: DoctorTarget, config: DoctorTarget['config']): Check {
  if (config !== undefined && config.publicUrl?.startsWith('https:') === true && !config.trustProxy)
    return finding(
      'proxy',
      'a proxy takes the TLS off before the service, which does not believe it: all callers look like one',
      'export SVC_TRUST_PROXY=true',
    )
  const note = proxyNote(target)
  if (note !== '') return ok('proxy', note.slice(2))
  return ok('proxy', config?.trustProxy === true ? 'the service believes the one before it' : 'none is used')
}

/** Commands go straight to the service. */
function proxyNote({ url, context }: DoctorTarget): string {
  const { env } = context.io
  const name = ['HTTPS_PROXY', 'https_proxy', 'HTTP_PROXY', 'http_proxy'].find((each) => (env[each] ?? '') !== '')
  if (name === undefined || url === undefined || isLoopback(url)) return ''
  return `; ${name} is set, and svc goes without a proxy`
}
