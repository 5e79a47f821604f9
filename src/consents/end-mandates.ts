import type { App } from '../app.ts'
import { bankOf } from '../banks/connector.ts'
import { makeConcurrentBatches } from '../lib/concurrent-batches.ts'
import type { EndedMandate } from './record.ts'
import { claimEndedMandates, clearRevocationDue } from './sql.ts'

const MANDATES_MAX = 50

/** How long a bank may take to answer. */
const END_TIMEOUT_MS = 5_000

/** How long no other worker claims a claimed mandate, and the wait before a bank is asked again, at first and at most. */
const LEASE_SECONDS = 10
const LEASE_SECONDS_MAX = 300

const runBatch = makeConcurrentBatches<EndedMandate>()

/**
 * Reports ended mandates to their banks, until they answer (decision 177). Reporting twice is safe. A job: one merchant's
 * slow bank does not keep the others waiting.
 * @param signal ends the job after the calls in progress; without one, it ends when all due mandates are processed
 */
export function endMandates(app: App, signal?: AbortSignal): Promise<{ more: boolean }> {
  return runBatch(app, {
    limit: MANDATES_MAX,
    claim: (limit) =>
      claimEndedMandates(app.pool, { limit, secondsLeast: LEASE_SECONDS, secondsMost: LEASE_SECONDS_MAX }),
    work: (mandate) => reportToBank(app, mandate),
    failed: (error) =>
      app.log.warn({ err: error }, 'the end of a mandate could not be reported to its bank; it is tried again'),
    signal,
  })
}

async function reportToBank(app: App, mandate: EndedMandate): Promise<void> {
  const bank = bankOf(app.banks, mandate.bank_connector)
  await bank.endMandate({ bankConsentReference: mandate.bank_consent_reference }, AbortSignal.timeout(END_TIMEOUT_MS))
  await clearRevocationDue(app.pool, { merchantId: mandate.merchant_id, id: mandate.id })
}
