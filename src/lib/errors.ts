/**
 * Every expected failure of the service, by its stable code (decision 29). A closed union: `http/error-status.ts`
 * holds the status of each in a total record, so that a new code can't be forgotten there.
 */
export type ErrorCode =
  | 'INVALID_JSON'
  | 'VALIDATION_FAILED'
  | 'UNSUPPORTED_MEDIA_TYPE'
  | 'BODY_TOO_LARGE'
  | 'IDEMPOTENCY_KEY_MISSING'
  | 'IDEMPOTENCY_KEY_REUSED'
  | 'UNSUPPORTED_CURRENCY'
  | 'AMOUNT_BELOW_FEE'
  | 'CODE_INVALID'
  | 'UNAUTHENTICATED'
  | 'TOKEN_EXPIRED'
  | 'INSUFFICIENT_USER_AUTHENTICATION'
  | 'UNKNOWN_CLIENT'
  | 'CHECKOUT_TOKEN_INVALID'
  | 'CHECKOUT_TOKEN_EXPIRED'
  | 'LINK_INVALID'
  | 'FORBIDDEN_ROLE'
  | 'WRONG_REALM'
  | 'FORBIDDEN_SCOPE'
  | 'MERCHANT_NOT_APPROVED'
  | 'MERCHANT_INACTIVE'
  | 'PAYOUT_HELD'
  | 'CHECKOUT_ORIGIN_NOT_ALLOWED'
  | 'HTTPS_REQUIRED'
  | 'STATE_MISMATCH'
  | 'PAYMENT_NOT_FOUND'
  | 'CONSENT_NOT_FOUND'
  | 'DELIVERY_NOT_FOUND'
  | 'MERCHANT_NOT_FOUND'
  | 'CONNECTOR_NOT_FOUND'
  | 'REGISTRATION_NOT_FOUND'
  | 'TEAM_MEMBER_NOT_FOUND'
  | 'CREDENTIAL_NOT_FOUND'
  | 'STAFF_NOT_FOUND'
  | 'MAIL_NOT_FOUND'
  | 'REALM_NOT_FOUND'
  | 'DISPUTE_NOT_FOUND'
  | 'PAYOUT_FILE_NOT_FOUND'
  | 'STATEMENT_LINE_NOT_FOUND'
  | 'SETTLEMENT_NOT_FOUND'
  | 'PAYOUT_NOT_FOUND'
  | 'BANK_ACCOUNT_NOT_FOUND'
  | 'AUDIT_ENTRY_NOT_FOUND'
  | 'RESOURCE_NOT_FOUND'
  | 'ACCOUNT_NOT_FOUND'
  | 'ORDER_NOT_FOUND'
  | 'RECURRING_PAYMENT_NOT_FOUND'
  | 'PAYMENT_REQUEST_NOT_FOUND'
  | 'METHOD_NOT_ALLOWED'
  | 'NOT_ACCEPTABLE'
  | 'REALM_EXISTS'
  | 'REGISTRATION_COMPLETE'
  | 'REGISTRATION_UNDER_WAY'
  | 'KYB_TRANSITION_INVALID'
  | 'USER_EXISTS'
  | 'LAST_ADMIN'
  | 'LAST_OWNER'
  | 'OWN_FACTOR'
  | 'TEAM_LIMIT_REACHED'
  | 'CREDENTIAL_LIMIT_REACHED'
  | 'CREDENTIAL_NOT_REVOCABLE'
  | 'PAYMENT_NOT_SETTLED'
  | 'EMAIL_NOT_CONFIRMED'
  | 'STATEMENT_LINE_MATCHED'
  | 'PAYOUT_NOT_RETRYABLE'
  | 'PAYOUT_NOT_FAILABLE'
  | 'PAYMENT_ALREADY_REFUNDED'
  | 'PAYMENT_NOT_CANCELLABLE'
  | 'PAYMENT_NOT_AUTHORISED'
  | 'CONSENT_EXPIRED'
  | 'CONSENT_NOT_REVOCABLE'
  | 'MANDATE_NOT_USABLE'
  | 'CHECKOUT_ALREADY_PAID'
  | 'CHECKOUT_ATTEMPTS_USED'
  | 'CONTACT_ALREADY_KNOWN'
  | 'CONTACT_NOT_TAKEN'
  | 'DELIVERY_NOT_DEAD'
  | 'WEBHOOK_ENDPOINT_NOT_SET'
  | 'WEBHOOK_ENDPOINT_PAUSED'
  | 'SECRET_OVERLAP_RUNNING'
  | 'BANK_ACCOUNT_LIMIT_REACHED'
  | 'PAYMENT_NOT_DISPUTABLE'
  | 'DISPUTE_ALREADY_OPEN'
  | 'DISPUTE_NOT_UNDER_REVIEW'
  | 'DISPUTE_ESCALATED'
  | 'DISPUTE_CLOSED'
  | 'RECURRING_PAYMENT_NOT_CANCELLABLE'
  | 'PAYMENT_REQUEST_CLOSED'
  | 'PROXY_TAKEN'
  | 'OVERDRAFT_IN_USE'
  | 'REFUND_REFUSED'
  | 'REFUND_ACCOUNT_UNKNOWN'
  | 'REFUND_NOT_FOUND'
  | 'REFUND_NOT_FAILABLE'
  | 'PAYMENT_NOT_RESOLVABLE'
  | 'REFUND_NOT_CREDITABLE'
  | 'CHANGED_MEANWHILE'
  | 'REFUND_AVAILABLE_MISMATCH'
  | 'REFUND_EXCEEDS_AVAILABLE'
  | 'MANDATE_LIMIT_EXCEEDED'
  | 'RATE_LIMITED'
  | 'BANK_UNAVAILABLE'
  | 'BANK_NOT_CONFIGURED'
  | 'BANK_NOT_FOUND'
  | 'BANK_ALREADY_REGISTERED'
  | 'BANK_REGISTRATION_REFUSED'
  | 'SOFTWARE_STATEMENT_MISSING'
  | 'SOFTWARE_STATEMENT_IN_FILE'
  | 'IDP_UNAVAILABLE'
  | 'SERVICE_UNAVAILABLE'
  | 'INTERNAL_ERROR'

/**
 * One broken rule of a request: where, which rule, in words. `path` is dotted, `''` for the body as a whole.
 * `expected` is the only value that is accepted; `value` is the rejected one where that is part of a larger value.
 */
export type FieldError = {
  path: string
  code: string
  message: string
  expected?: string | undefined
  value?: string | undefined
}

/** The operation that takes the caller on, with the parameters of its path that are known. */
export type NextStep = { operation: string; params: Readonly<Record<string, string>> }

/** Values of the resource as it is now, by the names that its representation has. */
export type CurrentValues = Readonly<Record<string, string | boolean | null>>

/** A rate limit by its name: so many requests within the window. */
export type RateLimitPolicy = { name: string; quota: number; windowSeconds: number }

/** A sign-in of a level, at most so old. */
export type RequiredSignIn = { acr: string; maxAgeSeconds: number }

export type DomainErrorOptions = {
  cause?: unknown
  /** The broken fields, all of them at once. */
  errors?: FieldError[]
  /** The caller's next step, in one sentence. */
  next?: string
  /** The same as an operation, where one does it. */
  nextStep?: NextStep
  /** The amount that is still possible, as on the wire. */
  available?: string
  /** The values that made the request impossible. */
  current?: CurrentValues
  /** Seconds after which a repeat may succeed; sent as Retry-After. */
  retryAfterSeconds?: number
  /** The limit that was exceeded; sent in RateLimit and RateLimit-Policy. */
  rateLimit?: RateLimitPolicy
  /** The sign-in that the person lacks; sent in WWW-Authenticate (RFC 9470). `acr` undefined: any. */
  signIn?: RequiredSignIn
  /** The scope that the access token lacks; sent in WWW-Authenticate (RFC 6750). */
  scope?: string
}

/** An expected failure: thrown by use cases, answered at the HTTP edge with the status of its code (decision 29). */
export class DomainError extends Error {
  readonly code: ErrorCode
  readonly errors: FieldError[] | undefined
  readonly next: string | undefined
  readonly nextStep: NextStep | undefined
  readonly available: string | undefined
  readonly current: CurrentValues | undefined
  readonly retryAfterSeconds: number | undefined
  readonly rateLimit: RateLimitPolicy | undefined
  readonly scope: string | undefined
  readonly signIn: RequiredSignIn | undefined

  constructor(code: ErrorCode, message: string, options: DomainErrorOptions = {}) {
    super(message, options.cause === undefined ? undefined : { cause: options.cause })
    this.name = 'DomainError'
    this.code = code
    this.errors = options.errors
    this.next = options.next
    this.nextStep = options.nextStep
    this.available = options.available
    this.current = options.current
    this.retryAfterSeconds = options.retryAfterSeconds
    this.rateLimit = options.rateLimit
    this.scope = options.scope
    this.signIn = options.signIn
  }
}

/** A `VALIDATION_FAILED` for several fields at once. */
export function invalidFields(errors: FieldError[]): DomainError {
  return new DomainError('VALIDATION_FAILED', errors.map(({ path, message }) => `${path}: ${message}`).join('; '), {
    errors,
  })
}

/** A `VALIDATION_FAILED` for one field, for rules that a schema can't express. */
export function invalidField(path: string, code: string, message: string): DomainError {
  return invalidFields([{ path, code, message }])
}
