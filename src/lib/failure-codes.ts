/** Why a payment failed, by its code (contract §Failure codes). The texts are fixed: one per code (decision 51). */
export type FailureSource = 'ASPSP_REJECTION' | 'PAYER' | 'SCHEME' | 'PLATFORM' | 'MERCHANT'

export type FailureCode = keyof typeof FAILURES

type FailureRow = { iso: string; source: FailureSource; reason: string }

const FAILURES = {
  ACCESS_DENIED: { iso: 'CUST', source: 'ASPSP_REJECTION', reason: 'The payer cancelled at the bank' },
  AUTHORISATION_FAILED: { iso: 'U033', source: 'ASPSP_REJECTION', reason: 'The bank could not confirm the payer' },
  INSUFFICIENT_FUNDS: { iso: 'AM04', source: 'ASPSP_REJECTION', reason: 'The account has too little money' },
  LIMIT_EXCEEDED: { iso: 'AM14', source: 'ASPSP_REJECTION', reason: "The amount is above the bank's limit" },
  ACCOUNT_CLOSED: { iso: 'AC05', source: 'ASPSP_REJECTION', reason: "The payer's account is closed" },
  ACCOUNT_BLOCKED: { iso: 'AC06', source: 'ASPSP_REJECTION', reason: "The payer's account is blocked" },
  INVALID_DEBTOR_ACCOUNT: { iso: 'AC02', source: 'ASPSP_REJECTION', reason: "The payer's account is not valid" },
  INVALID_CREDITOR_ACCOUNT: { iso: 'AC03', source: 'SCHEME', reason: "The merchant's account is not valid" },
  FRAUD_SUSPECTED: {
    iso: 'FR01',
    source: 'ASPSP_REJECTION',
    reason: 'The bank stopped the payment on suspicion of fraud',
  },
  DUPLICATE_PAYMENT: { iso: 'DU03', source: 'SCHEME', reason: 'The payment was sent before' },
  BANK_UNAVAILABLE: { iso: 'AB07', source: 'ASPSP_REJECTION', reason: 'The bank is not available' },
  BANK_TIMEOUT: { iso: 'AB11', source: 'ASPSP_REJECTION', reason: 'The bank did not answer in time' },
  SETTLEMENT_FAILED: { iso: 'ED05', source: 'SCHEME', reason: 'The settlement failed' },
  CONSENT_EXPIRED: { iso: 'TKXP', source: 'PLATFORM', reason: 'The consent expired before the payer authorised it' },
  CANCELLED_BY_MERCHANT: { iso: 'DS02', source: 'MERCHANT', reason: 'The merchant cancelled the payment' },
  CANCELLED_BY_PLATFORM: { iso: 'DS02', source: 'PLATFORM', reason: 'The platform cancelled the payout' },
  BANK_ERROR: { iso: 'MS03', source: 'ASPSP_REJECTION', reason: 'The bank refused without a reason' },
} as const satisfies Record<string, FailureRow>

/** A failure as in API responses; webhooks write `isoCode` for `iso_code` (decisions 36 and 51). */
export type Failure = { code: FailureCode; reason: string; source: FailureSource; iso_code: string }

export function isFailureCode(text: string): text is FailureCode {
  return Object.hasOwn(FAILURES, text)
}

/**
 * The failure of a code. `source` differs from the table only where the same code has another origin: a payer who
 * cancels on our own page instead of at the bank (decision 52), or whose browser alone reports the error (decision 15).
 */
export function failureOf(code: FailureCode, source?: FailureSource): Failure {
  const row = FAILURES[code]
  return { code, reason: row.reason, source: source ?? row.source, iso_code: row.iso }
}

const SOURCES: readonly string[] = [
  'ASPSP_REJECTION',
  'PAYER',
  'SCHEME',
  'PLATFORM',
  'MERCHANT',
] satisfies FailureSource[]

function isSource(text: string | null): text is FailureSource {
  return text !== null && SOURCES.includes(text)
}

/** The failure of a payment as its row has it; null where it has not failed. */
export function failureOfPayment(row: { failure_code: string | null; failure_source: string | null }): Failure | null {
  const { failure_code: code, failure_source: source } = row
  if (code === null) return null
  if (!isFailureCode(code) || !isSource(source)) throw new Error(`the payment has an unknown failure ${code}`)
  return failureOf(code, source)
}

const OAUTH_ERRORS: Readonly<Record<string, FailureCode>> = {
  access_denied: 'ACCESS_DENIED',
  server_error: 'BANK_ERROR',
  temporarily_unavailable: 'BANK_UNAVAILABLE',
}

/** The failure code of an OAuth `error` in the bank's redirect (decision 15). */
export function failureOfRedirectError(error: string): FailureCode {
  // The value comes from outside: a name such as `constructor` must not be looked up on the object's prototype.
  return (Object.hasOwn(OAUTH_ERRORS, error) ? OAUTH_ERRORS[error] : undefined) ?? 'AUTHORISATION_FAILED'
}
