import { z } from 'zod'
import { BankUnavailableError } from '../connector.ts'
import type { BankCallback, BankConnector } from '../connector.ts'
import { exchangeCode, stageConsent, viewConsent } from './consents.ts'
import { makeObie } from './obie.ts'
import type { Obie, ObieOptions } from './obie.ts'
import { executePayment, isOrderAt, mandateOf, stageUnderMandate } from './payments.ts'
import { RefusedByBankError } from './resources.ts'
import { makeRedirects } from './returns.ts'
import { savePaymentId } from './store-sql.ts'

/**
 * The connector of a bank that speaks the UK Open Banking standard (OBIE Read/Write 3.1.11 or 4.0). It refunds by
 * files and makes no payouts: the standard has calls for neither.
 */
export function makeObieConnector(options: ObieOptions): BankConnector {
  const obie = makeObie(options)
  return {
    id: obie.profile.id,
    staging: 'remote',
    stage: (request, signal) => stageConsent(obie, request, signal),
    redirects: makeRedirects(obie),
    exchangeCode: (request, signal) => exchangeCode(obie, request, signal),
    readConsent: ({ state }, signal) => viewConsent(obie, state, signal),
    execute: (order, signal) => executePayment(obie, order, signal),
    unanswered: {
      isOrder: (order, signal) => isOrderAt(obie, order, signal),
      note: (tx, order) => savePaymentId(tx, order),
    },
    stageUnderMandate: (order) => stageUnderMandate(obie, order),
    authoriseUnderMandate: (order, signal) => authoriseUnderMandate(obie, order.bankConsentReference, signal),
    endMandate: ({ bankConsentReference }, signal) => endMandate(obie, bankConsentReference, signal),
    close: () => obie.close(),
  }
}

/** The payer approved the mandate; the bank says whether it still stands. */
async function authoriseUnderMandate(
  obie: Obie,
  consentId: string,
  signal: AbortSignal,
): Promise<BankCallback['result']> {
  const consent = await mandateOf(obie, consentId)
  const view = await viewConsent(obie, consent.state, signal)
  if (view.status === 'rejected') return { outcome: 'rejected', failureCode: view.failureCode }
  if (view.status === 'awaiting') return { outcome: 'rejected', failureCode: 'AUTHORISATION_FAILED' }
  return { outcome: 'authorised', bankReference: consentId, settleInSeconds: 0 }
}

/** The bank's codes for what it does not know, by version. */
const UNKNOWN = ['U011', 'UK.OBIE.Resource.NotFound']

/** A mandate that the bank no longer knows has ended. */
async function endMandate(obie: Obie, consentId: string, signal: AbortSignal): Promise<void> {
  const consent = await mandateOf(obie, consentId)
  try {
    await obie.resources.call(
      {
        step: 'revocation',
        method: 'DELETE',
        url: `${(obie.profile.vrp ?? obie.profile.payments).base_url}/domestic-vrp-consents/${encodeURIComponent(consentId)}`,
        token: await obie.tokens.ofClient(signal),
        state: consent.state,
        answer: z.unknown(),
      },
      signal,
    )
  } catch (error) {
    if (!(error instanceof RefusedByBankError)) throw error
    const isUnknown = UNKNOWN.some((code) => code === error.reason)
    if (isUnknown || (await viewConsent(obie, consent.state, signal)).status === 'rejected') return
    throw new BankUnavailableError(`${obie.profile.id}: the mandate still stands`, { cause: error, bank: 'answers' })
  }
}
