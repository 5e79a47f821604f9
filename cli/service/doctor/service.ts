import { z } from 'zod'
import { packageVersion } from '../../../src/lib/package-root.ts'
import { ServiceInfo, getService } from '../../../src/wire/service.ts'
import { probe } from '../probe.ts'
import type { Probed } from '../probe.ts'
import { clockVerdict, finding, ok, remark, restartOr, runChecks, skipped } from './check.ts'
import type { Check, Verdict } from './check.ts'
import type { DoctorTarget } from './target.ts'

/** A newer service may report more. */
const Info = z.looseObject(ServiceInfo.pick({ version: true, mode: true }).shape)
const Readiness = z.looseObject({ status: z.string(), database: z.string().optional(), banks: z.string().optional() })

export async function checkService(target: DoctorTarget): Promise<Check[]> {
  const { url, by } = target
  const configuration = by === 'environment' ? { configuration: () => configurationCheck(target) } : {}
  if (url === undefined) return runChecks({ ...configuration, running: () => whereNone(target) })
  const info = probe(`${url}${getService.path}`)
  const readiness = probe(`${url}/readyz`)
  return runChecks({
    ...configuration,
    running: async () => runningCheck(target, url, await info),
    ready: async () => readyCheck(target, await readiness),
    banks: async () => banksCheck(await readiness),
    'service clock': async () => clockOf(await info),
    'api tls': () => tlsCheck(target, url),
    worker: () => workerLagCheck(target),
  })
}

function configurationCheck({ configProblem }: DoctorTarget): Verdict {
  if (configProblem === undefined) return ok('the environment is what svc serve needs')
  const name = /SVC_[A-Z_]+[A-Z]/.exec(configProblem)?.[0] ?? 'SVC_DATABASE_URL'
  return finding(configProblem, `export ${name}=<value>`)
}

function whereNone({ by, context: { stateDir } }: DoctorTarget): Verdict {
  if (by === 'environment') return skipped('the environment does not say where it is')
  return finding(`no service runs here (looked in ${stateDir}), and none is named or configured`, 'svc up')
}

function runningCheck(target: DoctorTarget, url: string, probed: Probed): Verdict {
  if (probed.status === undefined) return finding(probed.why, startCommand(target))
  const { data } = Info.safeParse(probed.json)
  if (probed.status !== 200 || data === undefined)
    return finding(`${url} answers ${probed.status}, and is not svc`, startCommand(target))
  const ours = packageVersion()
  const text = `svc ${data.version} in ${data.mode} mode at ${url}`
  if (data.version === ours) return ok(text)
  return remark(
    `${text}; this command line is ${ours}`,
    `the command line of svc ${data.version}: the package that the service runs from`,
  )
}

function startCommand(target: DoctorTarget): string {
  if (target.by === 'environment') return 'svc serve'
  const other = target.profile === undefined ? 'export SVC_API_URL=<address of the service>' : 'svc profile list'
  return restartOr(target, other)
}

function readyCheck(target: DoctorTarget, probed: Probed): Verdict {
  if (probed.status === undefined) return skipped('nothing answers')
  const { data } = Readiness.safeParse(probed.json)
  if (data === undefined) return skipped(`it answered ${probed.status}, and not whether it is ready`)
  if (data.status === 'ready') return ok('it reaches its database')
  if (data.database === 'read_only')
    return finding(
      'it is not ready: its database takes no changes, as a standby or a server whose disk is full',
      'psql "$SVC_DATABASE_URL" -c "select pg_is_in_recovery()"',
    )
  return finding(`it is not ready: its database is ${data.database ?? 'away'}`, startCommand(target))
}

function banksCheck(probed: Probed): Verdict {
  const { data } = Readiness.safeParse(probed.status === undefined ? undefined : probed.json)
  if (data?.banks === undefined) return skipped('it does not say whether it has a bank')
  if (data.banks === 'configured') return ok('payments can be taken')
  return finding('no bank is configured: new payments are answered 503', 'export SVC_BANK_PROFILES=<file>')
}

function clockOf(probed: Probed): Verdict {
  if (probed.status === undefined) return skipped('nothing answers')
  if (probed.aheadMs === undefined) return skipped('it does not say what time it is')
  return clockVerdict(probed.aheadMs)
}

const LOOPBACK = /^(localhost|127(\.\d+){3}|\[::1\])$/

/** Credentials travel there. */
function tlsCheck({ profile }: DoctorTarget, url: string): Verdict {
  if (url.startsWith('https:')) return ok('the connection is encrypted')
  if (LOOPBACK.test(new URL(url).hostname)) return ok('not needed: it is on this machine')
  const secure = url.replace(/^http:/, 'https:')
  return finding(
    `credentials travel to ${url} in clear`,
    profile === undefined ? `export SVC_API_URL=${secure}` : `svc login --profile ${profile.name} --api-url ${secure}`,
  )
}

/** What is due is taken within seconds; a busy worker may be behind by more than that, and not by this. */
const LAG_MAX_MS = 120_000

export async function workerLagCheck(target: DoctorTarget): Promise<Verdict> {
  const lagMs = await (await target.subject()).workerLagMs()
  if (lagMs <= LAG_MAX_MS) return ok('no overdue jobs')
  const minutes = Math.round(lagMs / 60_000)
  return finding(`jobs have been due for ${minutes} min: no worker seems to run`, restartOr(target, 'svc worker'))
}

export async function checkWebhooks(target: DoctorTarget): Promise<Check[]> {
  const byMerchant = deadByMerchant(target)
  byMerchant.catch(() => undefined)
  return runChecks({
    'dead deliveries': async () => deadCheck(await byMerchant, (await target.subject()).mode),
    endpoints: async () => goneCheck(await byMerchant),
  })
}

type DeadDeliveries = { merchant: string; count: number; isGone: boolean }

/** The merchants with most of them first. */
async function deadByMerchant(target: DoctorTarget): Promise<DeadDeliveries[]> {
  const deliveries = await (await target.subject()).deadDeliveries()
  return [...Map.groupBy(deliveries, (each) => each.realm_slug ?? each.merchant_id)]
    .map(([merchant, rows]) => ({ merchant, count: rows.length, isGone: rows[0]?.last_http_status === 410 }))
    .toSorted((a, b) => b.count - a.count)
}

/** In a sandbox they are normal: receivers come and go there, and demo merchants have some that never answer. */
function deadCheck(all: readonly DeadDeliveries[], mode: 'sandbox' | 'live'): Verdict {
  const [worst] = all.filter(({ isGone }) => !isGone)
  if (worst === undefined) return ok(all.length === 0 ? 'none' : 'only of endpoints that have gone')
  const sum = all.reduce((total, { count }) => total + count, 0)
  const more = all.length === 1 ? '' : `, of ${sum} in all of ${all.length} merchants`
  const verdict = mode === 'sandbox' ? remark : finding
  return verdict(
    `${worst.count} of ${worst.merchant}${more}: they are not retried automatically`,
    `svc webhooks replay --status DEAD --merchant ${worst.merchant}`,
  )
}

function goneCheck(all: readonly DeadDeliveries[]): Verdict {
  const [first, ...others] = all.filter(({ isGone }) => isGone)
  if (first === undefined) return ok('none has gone')
  const more = others.length === 0 ? '' : `, and ${others.length} more`
  return finding(
    `the endpoint of ${first.merchant} has answered 410, that it is gone${more}: its merchant has to set another`,
    `svc merchants show ${first.merchant}`,
  )
}
