import { isSetIn } from '../../base/environment-variables.ts'
import { probe } from '../probe.ts'
import { endCheck, registrationsCheck, answersCheck, missingStatement, testsCheck } from './banks.ts'
import { finding, ok, reasonOf, remark, runChecks, skipped } from './check.ts'
import type { Check, Verdict } from './check.ts'
import { DATABASE_URL, grantCommand, keysCheck, migrationsCheck } from './database.ts'
import { readFacts } from './database-sql.ts'
import type { Facts } from './database-sql.ts'
import { SMTP_FIX, mailServerCheck } from './mail.ts'
import { publicCertificateCheck } from './public-certificate.ts'
import { workerLagCheck } from './service.ts'
import type { DoctorTarget } from './target.ts'

/*
 * What must be so before the first payment with money, in the order of docs/operators/running.md, which says the same
 * (test/cli/doctor-live.test.ts). Where the environment of the service is not here, some of it can't be looked at.
 */
type LiveCheck = (target: DoctorTarget) => Verdict | Promise<Verdict>

export const LIVE_CHECKS = {
  settings: settingsCheck,
  'public address': publicAddressCheck,
  certificate: ({ url }) => (url === undefined ? NO_ADDRESS : publicCertificateCheck(url, LIVE_PROBE_MS)),
  metrics: metricsCheck,
  'database logins': loginsCheck,
  migrations: ({ databaseUrl }) => (databaseUrl === undefined ? NO_DATABASE : migrationsCheck(databaseUrl)),
  'master key': masterKeyCheck,
  worker: workerCheck,
  banks: banksCheck,
  'bank certificates': bankCertificatesCheck,
  operators: operatorsCheck,
  'second factor': secondFactorCheck,
  mail: mailCheck,
  alerts: alertsCheck,
  mandates: mandatesCheck,
  'back-up': backupCheck,
} as const satisfies Record<string, LiveCheck>

/** It is done once, and a check that is skipped because the machine is busy would have to be done again. */
const LIVE_MS = 20_000
const LIVE_PROBE_MS = 10_000

export function checkLive(target: DoctorTarget): Promise<Check[]> {
  const checks = Object.entries<LiveCheck>(LIVE_CHECKS)
  return runChecks(Object.fromEntries(checks.map(([name, check]) => [name, () => check(target)])), LIVE_MS)
}

const NOT_HERE = 'known only where the environment of the service is'
const NO_ADDRESS = skipped('the environment does not say where it is')
const NO_DATABASE = skipped(NOT_HERE)

async function settingsCheck(target: DoctorTarget): Promise<Verdict> {
  const { by, config, configProblem } = target
  if (by === 'nothing') return finding('no service is named or configured here', 'svc docs running')
  if (configProblem !== undefined) return finding(configProblem, 'svc config check')
  const mode = config?.mode ?? (await target.subject()).mode
  return mode === 'live' ? ok('complete, in live mode') : finding(`the mode is ${mode}`, 'export SVC_MODE=live')
}

async function publicAddressCheck({ url }: DoctorTarget): Promise<Verdict> {
  if (url === undefined) return NO_ADDRESS
  if (!url.startsWith('https:'))
    return finding(`payers and merchants reach ${url} without encryption`, 'export SVC_PUBLIC_URL=https://<host>')
  const probed = await probe(`${url}/healthz`, undefined, LIVE_PROBE_MS)
  if (probed.status === 200) return ok(`${url} answers`)
  const why = probed.status === undefined ? probed.why : `${url}/healthz answers ${probed.status}`
  return finding(`${why}: is the proxy there, and the API behind it?`, `curl -i ${url}/healthz`)
}

async function metricsCheck({ url, config }: DoctorTarget): Promise<Verdict> {
  if (url === undefined) return NO_ADDRESS
  const probed = await probe(`${url}/metrics`, undefined, LIVE_PROBE_MS)
  if (probed.status === 200) return finding(`anyone can read ${url}/metrics`, 'export SVC_OBSERVE_PORT=9090')
  if (probed.status === undefined) return skipped(probed.why)
  if (probed.status >= 500) return skipped(`${url}/metrics answers ${probed.status}`)
  if (config === undefined) return skipped(`not at ${url}; whether they have a port of their own is ${NOT_HERE}`)
  if (config.observePort === undefined)
    return finding('no port serves them: nothing can be watched', 'export SVC_OBSERVE_PORT=9090')
  const own = `http://${addressOf(config.host)}:${config.observePort}/metrics`
  const { status } = await probe(own, undefined, LIVE_PROBE_MS)
  if (status === 200) return ok(`at port ${config.observePort}, and not at ${url}`)
  if (status === undefined) return skipped(`not at ${url}; nothing answers at ${own}: svc serve does not run here`)
  return finding(`${own} answers ${status}: another program has the port`, 'export SVC_OBSERVE_PORT=<a free port>')
}

/** Where this machine reaches what listens there. */
function addressOf(host: string): string {
  if (host === '0.0.0.0') return '127.0.0.1'
  if (host === '::') return '[::1]'
  return host.includes(':') ? `[${host}]` : host
}

async function loginsCheck({ databaseUrl, migrationUrl }: DoctorTarget): Promise<Verdict> {
  if (databaseUrl === undefined) return NO_DATABASE
  const own = await factsOf(databaseUrl, 'SVC_DATABASE_URL')
  if ('state' in own) return own
  const owner = await factsOf(migrationUrl ?? databaseUrl, 'SVC_MIGRATION_DATABASE_URL')
  if ('state' in owner) return owner
  if (own.is_unbound) return unboundFinding(own, 'create role svc_api login in role svc_merchant')
  if (owner.is_unbound) return unboundFinding(owner, 'create role svc_owner login in role svc_merchant, svc_runtime')
  if (own.owns_tables)
    return remark(
      `${own.login} runs the service and owns the tables: it could rewrite the audit trail`,
      grantCommand('create role svc_api login in role svc_merchant'),
    )
  return ok(`${own.login} owns nothing`)
}

/** PostgreSQL keeps its first superuser as it is, so that another login has to take its place. */
function unboundFinding({ login, is_first: isFirst }: Facts, create: string): Verdict {
  const text = `${login} is a superuser, or bypasses row-level security: no rule of the database binds it`
  return isFirst
    ? finding(`${text}. As the first one of its server it stays so: use another login`, grantCommand(create))
    : finding(text, grantCommand(`alter role "${login}" nosuperuser nobypassrls`))
}

/** @throws where the server is slow, busy or at fault: the variable may be right */
async function factsOf(url: string, variable: string): Promise<Facts | Verdict> {
  const { isWrongAddress } = await import('../../../src/db/describe-error.ts')
  return readFacts(url, variable).catch((error: unknown) => {
    if (!isWrongAddress(error)) throw error
    return finding(reasonOf(error), `export ${variable}=${DATABASE_URL}`)
  })
}

async function masterKeyCheck(target: DoctorTarget): Promise<Verdict> {
  const verdict = await keysCheck(target)
  return verdict.state === 'skipped' && target.by === 'environment'
    ? finding(verdict.text, 'svc config keys create')
    : verdict
}

/** By its connections: one that had nothing to do yet is there as well. */
async function workerCheck(target: DoctorTarget): Promise<Verdict> {
  const { databaseUrl } = target
  const lag = await workerLagCheck(target)
  if (databaseUrl === undefined || lag.state === 'finding') return lag
  const { worker_count: count } = await readFacts(databaseUrl)
  if (count > 0) return ok('connected, and no overdue jobs')
  return finding('no svc worker is connected to the database: nothing would be settled or sent', 'svc worker')
}

async function banksCheck(target: DoctorTarget): Promise<Verdict> {
  const { banks, statement } = await (await target.subject()).bankSetup()
  if (banks.length === 0)
    return finding('no bank is configured: new payments are answered 503', 'export SVC_BANK_PROFILES=<file>')
  if (statement === null) return missingStatement()
  const verdicts = [registrationsCheck(banks), testsCheck(banks), answersCheck(banks)]
  const problem = verdicts.find(({ state }) => state === 'finding') ?? verdicts.find(({ state }) => state === 'remark')
  return problem ?? ok(`registered, tested and answering: ${banks.length}`)
}

async function bankCertificatesCheck(target: DoctorTarget): Promise<Verdict> {
  const { statement } = await (await target.subject()).bankSetup()
  if (statement === null) return skipped('no software statement is set')
  const certificate = endCheck('the certificate', statement.certificate_ends_at, statement)
  const assertion = endCheck('the software statement assertion', statement.ssa_ends_at, statement)
  return (
    [certificate, assertion].find(({ state }) => state === 'finding') ?? ok(`${certificate.text}; ${assertion.text}`)
  )
}

async function operatorsCheck(target: DoctorTarget): Promise<Verdict> {
  const owners = (await (await target.subject()).staff()).filter(({ role }) => role === 'OWNER')
  if (owners.length === 0)
    return finding('there is no OWNER', 'svc staff bootstrap --email <address of the first OWNER>')
  if (owners.length === 1)
    return remark(`${owners[0]?.email} is the only OWNER`, 'svc staff invite --email <address> --role OWNER')
  return ok(`${owners.length} OWNERs`)
}

async function secondFactorCheck(target: DoctorTarget): Promise<Verdict> {
  const people = (await (await target.subject()).staff()).filter(({ role }) => role === 'OWNER' || role === 'OPS')
  if (people.length === 0) return skipped('there is no OWNER and no OPS yet')
  if (people.some(({ second_factor: factor }) => factor === null))
    return remark('the identity provider does not say who has one: make sure that it requires one', 'svc docs keycloak')
  const without = people.filter(({ second_factor: factor }) => factor === false).map(({ email }) => email)
  if (without.length === 0) return ok(`each OWNER and OPS has one: ${people.length}`)
  return finding(`not set up by ${without.join(', ')}: each does so at the next sign-in`, 'svc login --second-factor')
}

async function mailCheck(target: DoctorTarget): Promise<Verdict> {
  const verdict = await mailServerCheck(target)
  return verdict.state === 'skipped' && target.by === 'environment' ? finding(verdict.text, SMTP_FIX) : verdict
}

function alertsCheck({ config }: DoctorTarget): Verdict {
  if (config === undefined) return skipped(NOT_HERE)
  const { url, mail } = config.alerts
  if (url === undefined && mail === undefined)
    return remark(
      'SVC_ALERT_URL and SVC_ALERT_MAIL are not set: only the rules of Prometheus call anyone',
      'export SVC_ALERT_MAIL=<address of who is on call>',
    )
  return ok([url && `to ${new URL(url).host}`, mail && `by mail to ${mail}`].filter(Boolean).join(' and '))
}

async function mandatesCheck(target: DoctorTarget): Promise<Verdict> {
  const { by, config, context } = target
  if (by === 'environment' && !isSetIn(context.io.env, 'SVC_VRP_CAPS'))
    return finding('it is not chosen what happens above the caps of mandates', 'export SVC_VRP_CAPS=enforce')
  const caps = config?.vrpCaps ?? (await target.subject()).vrpCaps
  if (caps === undefined) return skipped('the service does not say it')
  return ok(`payments above the caps of mandates are ${caps === 'enforce' ? 'rejected' : 'taken'}`)
}

/** Dumps are made each day; one that fails to be verified is found before a week of them is. */
const BACKUP_HOURS_MAX = 7 * 24
const VERIFY = 'svc backup verify svc.dump --record'

async function backupCheck(target: DoctorTarget): Promise<Verdict> {
  if (target.databaseUrl === undefined) return skipped(NOT_HERE)
  const last = await (await target.subject()).backupVerification()
  if (last === undefined) return skipped(NOT_HERE)
  if (last === null) return finding('no dump was verified yet: pg_dump it, and restore it once', VERIFY)
  if (!last.is_whole) return finding('the last dump that was verified is not whole', VERIFY)
  if (last.is_old) return finding('the last dump that was verified lacked events that were older than two days', VERIFY)
  const days = Math.floor(last.verified_hours / 24)
  if (last.verified_hours > BACKUP_HOURS_MAX) return finding(`the last dump was verified ${days} days ago`, VERIFY)
  return ok(`a dump was restored and found whole ${last.verified_hours} hours ago`)
}
