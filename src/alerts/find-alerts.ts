import type { App } from '../app.ts'
import { currentStatement } from '../banks/connections/software-statement.ts'
import { datesOf } from '../banks/software-statement.ts'
import { quoteName } from '../mail/quote-name.ts'
import { readLastCompared } from '../reconciliation/runs-sql.ts'
import { readLastVerification } from '../verify/runs-sql.ts'
import { DEATHS_MAX, hoursWithoutRun, listDeadEndpoints, measureLateness } from './sql.ts'
import type { FoundAlert } from './sql.ts'

export type AlertsApp = Pick<App, 'pool' | 'sealer' | 'bankSetup' | 'metrics' | 'log'>

const LATE_SECONDS = 120
/** The daily runs have half a day more to be tried again. */
const RUN_HOURS_MAX = 36
/** As svc doctor warns: time to get another certificate, and for the banks to know it. */
const ENDS_WITHIN_DAYS = 30
const DAY_MS = 86_400_000
/** A fault that more merchants have is one fault, with one alert. */
const ENDPOINTS_MAX = 20

type Finding = Omit<FoundAlert, 'name'>

const CHECKS: Record<string, (app: AlertsApp) => Promise<readonly Finding[]>> = {
  SvcWebhooksLate: lateWebhooks,
  SvcDeliveriesDead: deadEndpoints,
  SvcBankDown: silentBanks,
  SvcBooksDiffer: differences,
  SvcBooksNotCompared: uncomparedBooks,
  SvcInvariantBroken: brokenInvariants,
  SvcNotVerified: missingVerification,
  SvcCertificateEnds: endingCertificates,
}

/**
 * Everything that operators are alerted to now. `uncheckedNames` are the alerts whose subjects are not known, because the
 * check failed or there are too many: those that fire continue to. A check that fails is itself an alert, and silences
 * no other.
 */
export async function findAlerts(app: AlertsApp): Promise<{ found: FoundAlert[]; uncheckedNames: string[] }> {
  const uncheckedNames: string[] = []
  const checks = Object.entries(CHECKS).map(async ([name, check]): Promise<FoundAlert[]> => {
    try {
      const found = (await check(app)).map((finding) => ({ name, ...finding }))
      if (found.some(({ subject }) => subject === '')) uncheckedNames.push(name)
      return found
    } catch (error) {
      app.log.error({ err: error, alert: name }, 'what an alert is about could not be checked')
      uncheckedNames.push(name)
      return [
        { name: 'SvcAlertCheckFailed', subject: name, detail: `It is not known whether ${name} is to be reported.` },
      ]
    }
  })
  return { found: (await Promise.all(checks)).flat(), uncheckedNames }
}

async function lateWebhooks({ pool }: AlertsApp): Promise<Finding[]> {
  const seconds = await measureLateness(pool)
  return seconds < LATE_SECONDS
    ? []
    : [{ subject: '', detail: `The oldest webhook that is due and that no worker sends has waited ${seconds} s.` }]
}

async function deadEndpoints({ pool }: AlertsApp): Promise<Finding[]> {
  const endpoints = await listDeadEndpoints(pool, ENDPOINTS_MAX + 1)
  if (endpoints.length > ENDPOINTS_MAX) {
    const detail = `The endpoints of more than ${ENDPOINTS_MAX} merchants have failed: their webhooks are no longer tried.`
    return [{ subject: '', detail }]
  }
  return endpoints.map(({ merchant_id: id, trading_name: name, count }) => ({
    subject: id,
    detail: `The endpoint of ${quoteName(name)} has failed: ${count < DEATHS_MAX ? '' : 'at least '}${count} webhooks are no longer tried.`,
  }))
}

/** As all processes know them. */
async function silentBanks({ metrics }: AlertsApp): Promise<Finding[]> {
  const { values } = await metrics.bankAvailable.get()
  return values
    .filter(({ value }) => value === 0)
    .map(({ labels: { bank } }) => ({ subject: String(bank), detail: `The bank ${bank} does not answer.` }))
}

async function differences({ pool }: AlertsApp): Promise<Finding[]> {
  const count = sumOf((await readLastCompared(pool))?.difference_counts)
  return count === 0 ? [] : [{ subject: '', detail: `${count} differences were found by the reconciliation.` }]
}

async function uncomparedBooks({ pool }: AlertsApp): Promise<Finding[]> {
  const hours = await hoursWithoutRun(pool, 'reconciliation')
  return hours < RUN_HOURS_MAX ? [] : [{ subject: '', detail: `The books were last compared ${hours} hours ago.` }]
}

async function missingVerification({ pool }: AlertsApp): Promise<Finding[]> {
  const hours = await hoursWithoutRun(pool, 'verification')
  return hours < RUN_HOURS_MAX ? [] : [{ subject: '', detail: `The database was last verified ${hours} hours ago.` }]
}

async function brokenInvariants({ pool }: AlertsApp): Promise<Finding[]> {
  const count = sumOf((await readLastVerification(pool))?.violations)
  return count === 0 ? [] : [{ subject: '', detail: `${count} rows of the database break an invariant.` }]
}

function sumOf(counts: readonly { count: number }[] = []): number {
  return counts.reduce((sum, { count }) => sum + count, 0)
}

async function endingCertificates(app: AlertsApp): Promise<Finding[]> {
  const current = await currentStatement(app)
  if (current === undefined) return []
  const { certificateEndsAt, ssaEndsAt } = datesOf(current.statement)
  const last = Date.now() + ENDS_WITHIN_DAYS * DAY_MS
  return [
    { what: 'certificate', at: certificateEndsAt },
    { what: 'assertion', at: ssaEndsAt },
  ].flatMap(({ what, at }) => {
    if (at === undefined || at.getTime() > last) return []
    const day = at.toISOString().slice(0, 10)
    const detail = `The ${what} of the software statement ends on ${day}.`
    return [{ subject: what, detail }]
  })
}
