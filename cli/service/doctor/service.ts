import { z } from 'zod'
import { packageVersion } from '../../../src/lib/package-root.ts'
import { getOverview } from '../../../src/wire/console.ts'
import { ServiceInfo, getService } from '../../../src/wire/service.ts'
import { call } from '../../client/call.ts'
import { clockVerdict, finding, ok, remark, restartOr, runCheck, skipped } from './check.ts'
import type { Check, Verdict } from './check.ts'
import { OLDEST_DUE } from './database-sql.ts'
import type { Database } from './database-sql.ts'
import { probe } from './probe.ts'
import type { Probed } from './probe.ts'
import type { DoctorTarget } from './target.ts'

/** A newer service may tell more. */
const Info = z.looseObject(ServiceInfo.pick({ version: true, mode: true }).shape)
const Readiness = z.looseObject({ status: z.string(), database: z.string().optional() })

export async function checkService(target: DoctorTarget, database: Database | undefined): Promise<Check[]> {
  const { url, config, by } = target
  const configuration = by === 'environment' ? [{ check: 'configuration', ...checkConfiguration(target) }] : []
  if (url === undefined) return [...configuration, { check: 'running', ...checkNothing(target) }]
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

function checkConfiguration({ configProblem }: DoctorTarget): Verdict {
  if (configProblem === undefined) return ok('the environment is what svc serve needs')
  const name = /SVC_[A-Z_]+[A-Z]/.exec(configProblem)?.[0] ?? 'SVC_DATABASE_URL'
  return finding(configProblem, `export ${name}=<value>`)
}

function checkNothing({ by, context: { stateDir } }: DoctorTarget): Verdict {
  if (by === 'environment') return skipped('the environment does not say where it is')
  return finding(`no service runs here (looked in ${stateDir}), and none is named or configured`, 'svc up')
}

function isSvc(probed: Probed): boolean {
  return probed.status === 200 && Info.safeParse(probed.json).success
}

function checkRunning(target: DoctorTarget, url: string, probed: Probed): Verdict {
  if (probed.status === undefined) return finding(`${probed.why}${proxyNote(target)}`, startCommand(target))
  const { data } = Info.safeParse(probed.json)
  if (probed.status !== 200 || data === undefined)
    return finding(`${url} answers ${probed.status}, and is no svc`, startCommand(target))
  const ours = packageVersion()
  const text = `svc ${data.version} in ${data.mode} mode at ${url}`
  if (data.version === ours) return ok(text)
  return remark(
    `${text}; this command line is ${ours}`,
    `the command line of svc ${data.version}: the package that the service runs from`,
  )
}

/** What brings the service up, or leads to another one. */
function startCommand(target: DoctorTarget): string {
  if (target.by === 'environment') return 'svc serve'
  const other = target.profile === undefined ? 'export SVC_API_URL=<address of the service>' : 'svc profile list'
  return restartOr(target, other)
}

function checkReady(target: DoctorTarget, probed: Probed): Verdict {
  if (probed.status === undefined) return skipped('nothing answers')
  const { data } = Readiness.safeParse(probed.json)
  if (data === undefined) return skipped(`it answered ${probed.status}, and not whether it is ready`)
  if (data.status === 'ready') return ok('it reaches its database')
  return finding(`it is not ready: its database is ${data.database ?? 'away'}`, startCommand(target))
}

function checkClock(probed: Probed): Verdict {
  if (probed.status === undefined) return skipped('nothing answers')
  if (probed.aheadMs === undefined) return skipped('it does not say what time it is')
  return clockVerdict(probed.aheadMs)
}

const LOOPBACK = /^(localhost|127(\.\d+){3}|\[::1\])$/

export function isLoopback(url: string): boolean {
  return LOOPBACK.test(new URL(url).hostname)
}

/** What proves who commands act as travels there. */
function checkTls({ profile }: DoctorTarget, url: string): Verdict {
  if (url.startsWith('https:')) return ok('commands speak to it encrypted')
  if (isLoopback(url)) return ok('it is on this machine, where none is needed')
  const secure = url.replace(/^http:/, 'https:')
  return finding(
    `credentials travel to ${url} in clear`,
    profile === undefined ? `export SVC_API_URL=${secure}` : `svc login --profile ${profile.name} --api-url ${secure}`,
  )
}

/** Of the service, which never speaks TLS itself: whether it believes the proxy that does. */
function checkProxy(target: DoctorTarget, config: DoctorTarget['config']): Verdict {
  if (config !== undefined && config.publicUrl?.startsWith('https:') === true && !config.trustProxy)
    return finding(
      'a proxy takes the TLS off before the service, which does not believe it: all callers look like one',
      'export SVC_TRUST_PROXY=true',
    )
  const note = proxyNote(target)
  if (note !== '') return ok(note.slice(2))
  return ok(config?.trustProxy === true ? 'the service believes the one before it' : 'none is used')
}

/** Commands go straight to the service. */
function proxyNote({ url, context }: DoctorTarget): string {
  const { env } = context.io
  const name = ['HTTPS_PROXY', 'https_proxy', 'HTTP_PROXY', 'http_proxy'].find((each) => (env[each] ?? '') !== '')
  if (name === undefined || url === undefined || isLoopback(url)) return ''
  return `; ${name} is set, and svc goes without a proxy`
}

/** What is due is taken within seconds; a busy worker may be behind by more than that, and not by this. */
const LAG_MAX_MS = 120_000

const Due = z.object({ what: z.string(), lag_ms: z.number() })

/** Whether somebody takes what is due: by the database where it can be seen, else as the service says. */
async function checkWorker(target: DoctorTarget, database: Database | undefined, answers: boolean): Promise<Verdict> {
  const due = await oldestDue(target, database, answers)
  if (due === null) return ok('nothing is due that nobody has taken')
  if (due.lag_ms <= LAG_MAX_MS) return ok(`the oldest thing that is due waits for ${text(due.lag_ms)}`)
  return finding(
    `${due.what} has been due for ${text(due.lag_ms)}: no worker seems to run`,
    restartOr(target, 'svc worker'),
  )
}

async function oldestDue(
  { client }: DoctorTarget,
  database: Database | undefined,
  answers: boolean,
): Promise<z.infer<typeof Due> | null> {
  if (database !== undefined) {
    const [row] = await database.rows(OLDEST_DUE)
    return row === undefined ? null : Due.parse(row)
  }
  if (!answers) throw new Error('nothing answers')
  const { body } = await call(client(), getOverview, {})
  return body.worker.lag_ms === 0 ? null : { what: 'something', lag_ms: body.worker.lag_ms }
}

function text(ms: number): string {
  const seconds = Math.round(ms / 1_000)
  if (seconds < 120) return `${seconds} s`
  const minutes = Math.round(seconds / 60)
  return minutes < 120 ? `${minutes} min` : `${Math.round(minutes / 60)} h`
}
