import type { App } from '../app.ts'
import { bankOf } from '../banks/connector.ts'
import { makeConcurrentBatches } from '../lib/concurrent-batches.ts'
import type { EndedMandate } from './record.ts'
import { claimEndedMandates, clearRevocationDue } from './sql.ts'

const MANDATES_MAX = 50

/** How long a bank may take to hear of it. */
const END_TIMEOUT_MS = 5_000

/** How long a claimed mandate is nobody else's, and the wait before a silent bank is told again. */
const LEASE_SECONDS = 10

const playRound = makeConcurrentBatches<EndedMandate>()

/**
 * Tells banks of mandates that were ended here, until they answer (decision 177). Telling twice is safe. A job: one
 * merchant's slow bank does not keep the others waiting.
 * @param signal ends the job, which waits for what is under way then; without one, all that was due is waited for
 */
export function endMandates(app: App, signal?: AbortSignal): Promise<{ more: boolean }> {
  return playRound(app, {
    limit: MANDATES_MAX,
    claim: (limit) => claimEndedMandates(app.pool, { limit, leaseSeconds: LEASE_SECONDS }),
    work: (mandate) => reportToBank(app, mandate),
    failed: (error) =>
      app.log.warn({ err: error }, 'a bank could not be told of the end of a mandate; it is told again'),
    signal,
  })
}

async function reportToBank(app: App, mandate: EndedMandate): Promise<void> {
  const bank = bankOf(app.banks, mandate.bank_connector)
  await bank.endMandate({ bankConsentReference: mandate.bank_consent_reference }, AbortSignal.timeout(END_TIMEOUT_MS))
  await clearRevocationDue(app.pool, { merchantId: mandate.merchant_id, id: mandate.id })
}
