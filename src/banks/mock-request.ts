import { z } from 'zod'
import { SCHEME_NAMES } from '../lib/account-identification.ts'
import { constantTimeEqual, hmacHex } from '../lib/hmac.ts'
import { isAmountText } from '../lib/money.ts'
import { mockBankById } from './catalogue.ts'
import type { ConsentRequest, StagedConsent } from './connector.ts'
import { DEFAULT_SCENARIO, parseScenario } from './scenarios.ts'

/**
 * The payment that the payer is asked to authorise, as passed to the bank's page: signed by the bank when the consent
 * is staged, so that it can't be changed in the payer's browser.
 */
export const MockBankRequest = z.strictObject({
  consent: z.string().min(1),
  state: z.string().min(1),
  redirectUri: z.string().min(1),
  endToEndId: z.string().min(1),
  /** A decimal string with up to four decimals. */
  amount: z.string().refine(isAmountText),
  currency: z.string().regex(/^[A-Z]{3}$/),
  /** Missing in requests that were signed before the bank had accounts. */
  payeeId: z.uuid().optional(),
  payeeName: z.string(),
  debtorBankId: z.string().optional(),
  debtorAccount: z.strictObject({ scheme: z.enum(SCHEME_NAMES), identification: z.string().min(1) }).optional(),
  remittanceReference: z.string().max(35).optional(),
  scenario: z.string(),
  /** The mandate that the payer authorises together with its first payment. */
  mandate: z
    .strictObject({
      maxAmountPerPayment: z.string().refine(isAmountText),
      limits: z
        .strictObject({
          period: z.enum(['DAY', 'WEEK', 'FORTNIGHT', 'MONTH', 'HALF_YEAR', 'YEAR']),
          alignment: z.enum(['CALENDAR', 'CONSENT']),
          maxAmount: z.string().refine(isAmountText),
        })
        .array()
        .readonly(),
      validTo: z.string().min(1),
    })
    .optional(),
})
export type MockBankRequest = z.infer<typeof MockBankRequest>

/**
 * Stages a consent at the mock bank: no call and no write, because the page's URL carries everything.
 * @throws {DomainError} VALIDATION_FAILED when the scenario is not known
 */
export function stageConsent(
  bank: { publicUrl: string; secret: string; reference: string },
  consent: ConsentRequest,
): StagedConsent {
  const scenario = consent.scenario ?? mockBankById(consent.debtorBankId)?.scenario ?? DEFAULT_SCENARIO
  parseScenario(scenario)
  const request: MockBankRequest = {
    consent: bank.reference,
    state: consent.state,
    redirectUri: consent.redirectUri,
    endToEndId: consent.endToEndId,
    amount: consent.amount,
    currency: consent.currency,
    payeeId: consent.payeeId,
    payeeName: consent.payeeName,
    debtorBankId: consent.debtorBankId,
    debtorAccount: consent.debtorAccount,
    remittanceReference: consent.remittanceReference,
    scenario,
    mandate: consent.mandate,
  }
  const query = new URLSearchParams({
    consent: bank.reference,
    state: consent.state,
    redirect_uri: consent.redirectUri,
    request: signRequest(bank.secret, request),
  })
  return { bankConsentReference: bank.reference, redirectUrl: `${bank.publicUrl}/redirect-stub?${query}` }
}

/** The request object: base64url of its JSON, a dot, and its HMAC. */
export function signRequest(secret: string, request: MockBankRequest): string {
  const payload = Buffer.from(JSON.stringify(request)).toString('base64url')
  return `${payload}.${mac(secret, payload)}`
}

/** Verifies and parses a request object; undefined when the bank did not sign it. */
export function readRequest(secret: string, text: string): MockBankRequest | undefined {
  const [payload = '', signature = '', ...rest] = text.split('.')
  if (rest.length > 0 || !constantTimeEqual(signature, mac(secret, payload))) return undefined
  return MockBankRequest.parse(JSON.parse(Buffer.from(payload, 'base64url').toString('utf8')))
}

/** The prefix separates request signatures from callback signatures, which use the same key. */
function mac(secret: string, payload: string): string {
  return hmacHex(secret, Buffer.from(`redirect-stub request\n${payload}`))
}
