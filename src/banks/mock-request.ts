import { createCipheriv, createDecipheriv, createHmac, createSecretKey } from 'node:crypto'
import type { KeyObject } from 'node:crypto'
import { z } from 'zod'
import { SCHEME_NAMES } from '../lib/account-identification.ts'
import { isAmountText } from '../lib/money.ts'
import { mockBankById } from './catalogue.ts'
import type { ConsentRequest, StagedConsent } from './connector.ts'
import { DEFAULT_SCENARIO, parseScenario } from './scenarios.ts'

/**
 * The payment that the payer is asked to authorise, as passed to the bank's page: encrypted by the bank when the consent
 * is staged, so that it can't be read on the way or changed in the payer's browser.
 */
export const MockBankRequest = z.strictObject({
  consent: z.string().min(1),
  state: z.string().min(1),
  redirectUri: z.string().min(1),
  endToEndId: z.string().min(1),
  /** A decimal string with up to four decimals. */
  amount: z.string().refine(isAmountText),
  currency: z.string().regex(/^[A-Z]{3}$/),
  /** Missing in requests that were made before the bank had accounts. */
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
  })
  // Base64url has nothing to escape, and the longest part would be searched for it.
  const sealed = sealRequest(bank.secret, request)
  return {
    bankConsentReference: bank.reference,
    redirectUrl: `${bank.publicUrl}/redirect-stub?${query}&request=${sealed}`,
  }
}

const ALGORITHM = 'aes-256-gcm'
const NONCE_BYTES = 12
const TAG_BYTES = 16

/**
 * The request object, encrypted under the bank's key: it names the payer's account, and it is part of an address that is
 * stored and travels through logs. The nonce is a MAC of the text, so that a seeded service makes the same address again.
 */
export function sealRequest(secret: string, request: MockBankRequest): string {
  const text = Buffer.from(JSON.stringify(request), 'utf8')
  const nonce = createHmac('sha256', keysOf(secret).nonce).update(text).digest().subarray(0, NONCE_BYTES)
  const cipher = createCipheriv(ALGORITHM, keysOf(secret).request, nonce, { authTagLength: TAG_BYTES })
  return Buffer.concat([nonce, cipher.update(text), cipher.final(), cipher.getAuthTag()]).toString('base64url')
}

/** Decrypts and parses a request object; undefined when the bank did not make it. */
export function readRequest(secret: string, text: string): MockBankRequest | undefined {
  const bytes = Buffer.from(text, 'base64url')
  // Other characters are skipped by the decoder, so the text is compared as well: each request has one form.
  if (bytes.length <= NONCE_BYTES + TAG_BYTES || bytes.toString('base64url') !== text) return undefined
  const plain = decrypted(secret, bytes)
  return plain === undefined ? undefined : MockBankRequest.parse(JSON.parse(plain))
}

function decrypted(secret: string, bytes: Buffer): string | undefined {
  const key = keysOf(secret).request
  const decipher = createDecipheriv(ALGORITHM, key, bytes.subarray(0, NONCE_BYTES), { authTagLength: TAG_BYTES })
  decipher.setAuthTag(bytes.subarray(-TAG_BYTES))
  try {
    const parts = [decipher.update(bytes.subarray(NONCE_BYTES, -TAG_BYTES)), decipher.final()]
    return Buffer.concat(parts).toString('utf8')
  } catch {
    return undefined
  }
}

/** The bank's secret signs its callbacks too: each purpose has its own key. */
type Keys = Readonly<Record<'nonce' | 'request', KeyObject>>

/** Made once for each secret: setting a cipher up from bytes costs three times as much as encrypting. */
const keys = new Map<string, Keys>()

function keysOf(secret: string): Keys {
  const known = keys.get(secret)
  if (known !== undefined) return known
  const made = { nonce: keyFor(secret, 'nonce'), request: keyFor(secret, 'request') }
  keys.set(secret, made)
  return made
}

function keyFor(secret: string, purpose: string): KeyObject {
  return createSecretKey(createHmac('sha256', secret).update(`redirect-stub ${purpose}`).digest())
}
