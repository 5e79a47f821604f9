/**
 * The way of a payer's browser to a bank that asks for the authorisation in pages of its own, and back. The bank knows one
 * return address of ours, `/bank/return`, and the merchant's `redirect_uri` is the next step (decision 266).
 */
export type BankRedirects = {
  /**
   * The bank's address for one visit: its request object is made afresh, so an old link still works.
   * @throws {BankUnavailableError} when the bank gives no answer
   */
  begin(request: Visit, signal: AbortSignal): Promise<{ location: string }>
  /**
   * Verifies what the bank's redirect carried, and keeps the bank's code.
   * @throws {BankUnavailableError} when the bank's keys can't be read; the same answer may be given again
   */
  receiveReturn(request: Visit & { params: URLSearchParams }, signal: AbortSignal): Promise<ReturnOutcome>
}

type Visit = {
  /** The payment's `bank_consent_id`. */
  state: string
  /** SHA-256, in hexadecimal digits, of the random cookie that the browser got with its visit. */
  browser: string
}

export type ReturnOutcome =
  /** A code of ours, for the merchant's page and sca-complete. */
  | { outcome: 'code'; code: string }
  /** The bank's error, such as `access_denied`. */
  | { outcome: 'error'; error: string }
  | { outcome: 'refused'; reason: ReturnRefusal }

/** Why an answer of a bank is not believed, by the rule that it breaks (OpenID Connect Core 3.3.2, FAPI 1.0 Advanced). */
export type ReturnRefusal =
  | 'UNKNOWN_STATE'
  | 'OTHER_BROWSER'
  | 'ALREADY_RETURNED'
  | 'ISSUER_MISMATCH'
  | 'SIGNATURE_INVALID'
  | 'ALG_NOT_ALLOWED'
  | 'AUDIENCE_MISMATCH'
  | 'NONCE_MISMATCH'
  | 'TOKEN_EXPIRED'
  | 'INTENT_MISMATCH'
  | 'S_HASH_MISMATCH'
  | 'C_HASH_MISMATCH'
  | 'ACR_MISMATCH'
  | 'RESPONSE_INVALID'

/** The page of ours that sends a payer to the bank. The state stands in the query, as queries are not logged. */
export function bankAuthoriseAddress(publicUrl: string, state: string): string {
  return `${publicUrl}/bank/authorise?${new URLSearchParams({ state })}`
}

/** The one address of ours that banks redirect to. */
export function bankReturnAddress(publicUrl: string): string {
  return `${publicUrl}/bank/return`
}
