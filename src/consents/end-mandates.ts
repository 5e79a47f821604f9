import type { App } from '../app.ts'
import { bankOf } from '../banks/connector.ts'
import type { EndedMandate } from './record.ts'
import { claimEnded, forgetRevocation } from './sql.ts'

const ENDED_MAX = 50

/** How long a bank may take to hear of it. */
const END_TIMEOUT_MS = 5_000

/** How long a claimed mandate is nobody else's, and the wait before a silent bank is told again. */
const LEASE_SECONDS = 10

/** Tells banks of mandates that were ended here, until they answer (decision 49). Telling twice is safe. A job. */
export async function endMandates(app: App): Promise<{ more: boolean }> {
  const ended = await claimEnded(app.pool, { limit: ENDED_MAX, leaseSeconds: LEASE_SECONDS })
  const outcomes = await Promise.allSettled(ended.map((mandate) => tellBank(app, mandate)))
  for (const outcome of outcomes) {
    if (outcome.status === 'rejected')
      app.log.warn({ err: outcome.reason }, 'a bank could not be told of the end of a mandate; it is told again')
  }
  return { more: ended.length === ENDED_MAX }
}

async function tellBank(app: App, mandate: EndedMandate): Promise<void> {
  const bank = bankOf(app.banks, mandate.bank_connector)
  await bank.endMandate({ bankConsentReference: mandate.bank_consent_reference }, AbortSignal.timeout(END_TIMEOUT_MS))
  await forgetRevocation(app.pool, { merchantId: mandate.merchant_id, id: mandate.id })
}
