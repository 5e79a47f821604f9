import type { ErrorCode } from './errors.ts'

/** What an error code means, and what its caller does next. */
type ErrorText = { meaning: string; next: string }

/** A total record: a new code without a text does not compile. */
export const ERROR_TEXTS: Readonly<Record<ErrorCode, ErrorText>> = {
  INVALID_JSON: { meaning: 'The body is not valid JSON in UTF-8.', next: 'Fix the body.' },
  VALIDATION_FAILED: { meaning: 'Fields break a rule.', next: 'Fix each field that `errors` lists.' },
  UNSUPPORTED_MEDIA_TYPE: { meaning: 'The body is not JSON.', next: 'Send `Content-Type: application/json`.' },
  BODY_TOO_LARGE: { meaning: 'The body is above the size limit.', next: 'Send less.' },
  IDEMPOTENCY_KEY_MISSING: {
    meaning: 'The header `X-Idempotency-Key` is missing.',
    next: 'Send a key that is unique to the order.',
  },
  IDEMPOTENCY_KEY_REUSED: {
    meaning: 'The idempotency key was used with another body.',
    next: 'Repeat the same body, or use a new key.',
  },
  UNSUPPORTED_CURRENCY: { meaning: 'The currency is not offered.', next: 'Use another currency.' },
  AMOUNT_BELOW_FEE: { meaning: 'The fee would leave nothing of the amount.', next: 'Use a larger amount.' },
  CODE_INVALID: {
    meaning: 'The bank does not know the `code` of the redirect.',
    next: 'Pass `code` and `state` exactly as the bank sent them.',
  },
  UNAUTHENTICATED: {
    meaning: 'Credentials are missing or not valid.',
    next: 'Send a valid access token; `svc profile token` prints one.',
  },
  INSUFFICIENT_USER_AUTHENTICATION: {
    meaning: 'This needs a sign-in of the last ten minutes, with a second factor.',
    next: 'Sign in again with acr_values and max_age as in WWW-Authenticate, such as with svc login --second-factor.',
  },
  TOKEN_EXPIRED: { meaning: 'The access token or session has expired.', next: 'Get a new token, or sign in again.' },
  UNKNOWN_CLIENT: { meaning: 'No merchant has this client id.', next: 'Check the client id and the service.' },
  CHECKOUT_TOKEN_INVALID: {
    meaning: 'The checkout token is malformed, or its signature is wrong.',
    next: 'Check it with `svc checkout token --decode`.',
  },
  CHECKOUT_TOKEN_EXPIRED: { meaning: 'The checkout token has expired.', next: 'Make a new token for the order.' },
  LINK_INVALID: {
    meaning: 'The sign-in link was used before or is older than 10 minutes.',
    next: 'Request a new link.',
  },
  FORBIDDEN_ROLE: {
    meaning: "The caller's role does not allow this.",
    next: 'Use an identity with the permission; `svc whoami` shows yours.',
  },
  WRONG_REALM: {
    meaning: 'The token is of a realm that this operation is not for.',
    next: 'Sign in to the right realm: merchant, platform or customers.',
  },
  FORBIDDEN_SCOPE: {
    meaning: 'The token lacks a scope.',
    next: 'Ask for a token with the scope that the error names.',
  },
  MERCHANT_NOT_APPROVED: { meaning: 'The KYB review is not approved.', next: 'Wait for approval by an operator.' },
  MERCHANT_INACTIVE: { meaning: 'Operators have disabled the merchant.', next: 'Contact the operator.' },
  PAYOUT_HELD: {
    meaning: 'Payouts are held, so that no payments can be created.',
    next: 'Contact the operator.',
  },
  CHECKOUT_ORIGIN_NOT_ALLOWED: {
    meaning: 'The page that embeds the checkout is not an allowed origin.',
    next: 'Add it with `svc checkout origins add`.',
  },
  HTTPS_REQUIRED: { meaning: 'The request did not come over TLS.', next: 'Use https.' },
  STATE_MISMATCH: {
    meaning: 'The `state` is not the one given to this payment.',
    next: 'Do not continue: the return may be forged.',
  },
  PAYMENT_NOT_FOUND: { meaning: 'The caller has no payment with this id.', next: 'Check the id and the merchant.' },
  CONSENT_NOT_FOUND: { meaning: 'The caller has no mandate with this id.', next: '`svc payments mandates list`.' },
  DELIVERY_NOT_FOUND: { meaning: 'The caller has no delivery with this id.', next: '`svc webhooks list`.' },
  MERCHANT_NOT_FOUND: { meaning: 'No merchant has this id.', next: '`svc merchants list`.' },
  CONNECTOR_NOT_FOUND: { meaning: 'No bank connector has this name.', next: 'Check the callback address.' },
  REGISTRATION_NOT_FOUND: { meaning: 'No registration has this realm.', next: '`svc merchants registrations`.' },
  TEAM_MEMBER_NOT_FOUND: { meaning: 'The team has no such member.', next: '`svc team list`.' },
  CREDENTIAL_NOT_FOUND: { meaning: 'No credential has this id.', next: '`svc credentials list`.' },
  STAFF_NOT_FOUND: { meaning: 'The staff has no such member.', next: '`svc staff list`.' },
  MAIL_NOT_FOUND: { meaning: 'The sandbox has no such mail.', next: '`svc sandbox mail list`.' },
  REALM_NOT_FOUND: { meaning: 'The identity provider has no such realm.', next: '`svc merchants repair <realm>`.' },
  PAYOUT_FILE_NOT_FOUND: {
    meaning: 'There is no such file of payouts.',
    next: '`svc payouts files`.',
  },
  PAYOUT_NOT_FOUND: { meaning: 'The caller has no payout with this id.', next: '`svc payouts list`.' },
  REFUND_NOT_FOUND: { meaning: 'No merchant has a refund with this id.', next: '`svc statements missing`.' },
  STATEMENT_LINE_NOT_FOUND: { meaning: 'No bank statement has this line.', next: '`svc statements lines`.' },
  SETTLEMENT_NOT_FOUND: { meaning: 'The merchant has no settlement with this id.', next: '`svc settlements list`.' },
  DISPUTE_NOT_FOUND: { meaning: 'The caller has no dispute with this id.', next: 'Check the id and the merchant.' },
  BANK_ACCOUNT_NOT_FOUND: {
    meaning: 'The merchant has no payout account with this id.',
    next: '`svc payouts accounts list`.',
  },
  AUDIT_ENTRY_NOT_FOUND: { meaning: 'The audit trail has no such entry.', next: '`svc audit list`.' },
  RESOURCE_NOT_FOUND: { meaning: 'Nothing has this path or id.', next: 'Check the path and the id.' },
  ACCOUNT_NOT_FOUND: { meaning: 'The customer has no such bank account.', next: '`svc ob accounts`.' },
  ORDER_NOT_FOUND: { meaning: 'The customer has no such payment order.', next: 'Check the id.' },
  RECURRING_PAYMENT_NOT_FOUND: { meaning: 'The customer has no such recurring payment.', next: 'Check the id.' },
  PAYMENT_REQUEST_NOT_FOUND: { meaning: 'The customer has no such request or offer.', next: 'Check the id.' },
  METHOD_NOT_ALLOWED: { meaning: 'The path does not take this method.', next: 'Use a method of the `Allow` header.' },
  NOT_ACCEPTABLE: { meaning: 'The request does not accept JSON.', next: 'Send `Accept: application/json`.' },
  REALM_EXISTS: { meaning: 'The name made from `company_name` is taken.', next: 'Register under another name.' },
  REGISTRATION_COMPLETE: {
    meaning: 'A complete registration cannot be rolled back.',
    next: 'Disable the merchant instead: `svc merchants disable <merchant>`.',
  },
  REGISTRATION_UNDER_WAY: { meaning: 'The registration is in progress.', next: 'Try again in a minute.' },
  KYB_TRANSITION_INVALID: {
    meaning: 'The KYB status does not allow this decision.',
    next: 'See the [transitions](states.md#kyb).',
  },
  USER_EXISTS: {
    meaning: 'A member with this e-mail address exists.',
    next: 'Use another address, or change the role.',
  },
  LAST_ADMIN: { meaning: 'This is the last ADMIN of the merchant.', next: 'Add another ADMIN first.' },
  OWN_FACTOR: {
    meaning: 'This is your own second factor, which another person has to reset.',
    next: 'Sign in with a recovery code, or ask another person to reset it.',
  },
  LAST_OWNER: { meaning: 'This is the last OWNER of the platform.', next: 'Add another OWNER first.' },
  TEAM_LIMIT_REACHED: { meaning: 'The team has the most members allowed.', next: 'Remove one first.' },
  CREDENTIAL_LIMIT_REACHED: { meaning: 'The merchant has the most credentials allowed.', next: 'Revoke one first.' },
  CREDENTIAL_NOT_REVOCABLE: {
    meaning: 'The credential belongs to the merchant itself.',
    next: 'Rotate its secret instead.',
  },
  PAYOUT_NOT_RETRYABLE: {
    meaning: 'The payout is paid, is sent by file, or there is nothing to pay again.',
    next: 'Read its status with `svc payouts show <id>`.',
  },
  PAYOUT_NOT_FAILABLE: {
    meaning: "A bank's API sends the payout, or it is not SENT; to be cancelled, it has to be CREATED.",
    next: 'Read its status with `svc payouts show <id>`.',
  },
  STATEMENT_LINE_MATCHED: {
    meaning: 'The line of the bank statement is matched already.',
    next: '`svc statements lines --state unmatched`.',
  },
  PAYMENT_NOT_SETTLED: {
    meaning: 'Only a Settled payment can be refunded; only a Settled or Refunded one has a receipt.',
    next: 'Read its status. A Failed payment stays as it is; any other can still be Settled.',
  },
  EMAIL_NOT_CONFIRMED: {
    meaning: 'The payer has signed in with a phone number, so that no e-mail address is confirmed.',
    next: 'Sign in to the payer hub with an e-mail address, or print the receipt.',
  },
  PAYMENT_ALREADY_REFUNDED: { meaning: 'The whole amount has been refunded.', next: 'Nothing to do.' },
  PAYMENT_NOT_CANCELLABLE: {
    meaning: 'The payment was authorised or has ended.',
    next: 'Refund it once it is Settled.',
  },
  PAYMENT_NOT_AUTHORISED: {
    meaning: 'The payment is not authorised, or has ended.',
    next: 'Read its status; its payer may still have to approve it.',
  },
  CONSENT_EXPIRED: { meaning: 'The payer did not authorise it in time.', next: 'Create a new payment.' },
  CONSENT_NOT_REVOCABLE: { meaning: 'The mandate is not active.', next: 'Read its status.' },
  MANDATE_NOT_USABLE: {
    meaning: 'The mandate is not authorised, or has ended.',
    next: 'Ask the payer for a new mandate.',
  },
  CHECKOUT_ALREADY_PAID: {
    meaning: 'The order of this token is paid.',
    next: 'Show the receipt; do not charge again.',
  },
  CHECKOUT_ATTEMPTS_USED: {
    meaning: 'The order was started twenty times.',
    next: 'Make a token with another `jti`, after checking the order.',
  },
  CONTACT_ALREADY_KNOWN: { meaning: 'The payment has a contact.', next: 'Nothing to do.' },
  CONTACT_NOT_TAKEN: {
    meaning: 'This payment does not take a contact.',
    next: 'Only a one-off checkout payment does.',
  },
  DELIVERY_NOT_DEAD: { meaning: 'Only a DEAD delivery can be replayed.', next: 'Wait: it is still being retried.' },
  WEBHOOK_ENDPOINT_NOT_SET: { meaning: 'The merchant has no webhook endpoint.', next: '`svc webhooks endpoint set`.' },
  WEBHOOK_ENDPOINT_PAUSED: { meaning: 'The webhook endpoint is paused.', next: '`svc webhooks endpoint resume`.' },
  SECRET_OVERLAP_RUNNING: {
    meaning: 'The previous signing secret is still valid.',
    next: 'Wait for the end of the overlap, or `svc secret end-overlap`. Where the new secret was lost: `svc secret rotate --discard-current`.',
  },
  BANK_ACCOUNT_LIMIT_REACHED: {
    meaning: 'The merchant has the most payout accounts allowed.',
    next: 'Disable one first.',
  },
  PAYMENT_NOT_DISPUTABLE: {
    meaning: 'The payment is not Settled or Refunded, or is too old.',
    next: 'Read its status and age.',
  },
  DISPUTE_ALREADY_OPEN: { meaning: 'The payment has an open dispute.', next: 'Continue with that one.' },
  DISPUTE_NOT_UNDER_REVIEW: {
    meaning: 'The merchant can still submit evidence.',
    next: 'Wait for the evidence or its deadline, or escalate.',
  },
  DISPUTE_ESCALATED: { meaning: 'The dispute is escalated.', next: 'An OWNER resolves it.' },
  DISPUTE_CLOSED: { meaning: 'The dispute is resolved, which is final.', next: 'Nothing to do.' },
  RECURRING_PAYMENT_NOT_CANCELLABLE: { meaning: 'The recurring payment has ended.', next: 'Nothing to do.' },
  PAYMENT_REQUEST_CLOSED: { meaning: 'The request or offer has been decided.', next: 'Read its status.' },
  PROXY_TAKEN: { meaning: 'Another customer has this address or number.', next: 'Use another one.' },
  OVERDRAFT_IN_USE: { meaning: 'The account is overdrawn by more than the new limit.', next: 'Set a higher limit.' },
  REFUND_REFUSED: { meaning: 'The bank rejected the refund.', next: 'Try again later, or refund by other means.' },
  CHANGED_MEANWHILE: { meaning: 'It changed since you read it.', next: 'Read it again, then decide.' },
  REFUND_ACCOUNT_UNKNOWN: {
    meaning: "No bank has confirmed the payer's account, and refunds at this bank go to an account only.",
    next: 'Refund by other means; accept or resolve a dispute without `refund`.',
  },
  REFUND_NOT_FAILABLE: {
    meaning: 'The refund is still taken to the bank, by its API or the next file, or it has ended.',
    next: 'Read its status with `svc explain <id>`.',
  },
  PAYMENT_NOT_RESOLVABLE: {
    meaning:
      'The payment waits for no answer of its bank, the bank has another payment under this id, or its money is in the balance.',
    next: 'Read the payment; the message says what is possible.',
  },
  REFUND_NOT_CREDITABLE: {
    meaning: 'The line is not a refund that the bank has returned, or it is credited already.',
    next: 'Read the line, with its refund and direction.',
  },
  REFUND_AVAILABLE_MISMATCH: {
    meaning: 'The amount left to refund is not the one you expected.',
    next: 'Read the payment again, then decide.',
  },
  REFUND_EXCEEDS_AVAILABLE: { meaning: 'The refund is above what is left.', next: 'Refund less.' },
  MANDATE_LIMIT_EXCEEDED: {
    meaning: 'The payment is above a cap of its mandate.',
    next: 'Charge less, or wait for the next period.',
  },
  RATE_LIMITED: { meaning: 'Too many requests.', next: 'Wait for the seconds of `Retry-After`, then repeat.' },
  BANK_UNAVAILABLE: { meaning: 'The bank does not answer.', next: 'Repeat with the same idempotency key.' },
  BANK_NOT_FOUND: {
    meaning: 'No configured bank has this id.',
    next: 'Add it to the file of SVC_BANK_PROFILES, or list the banks: `svc banks list`.',
  },
  BANK_ALREADY_REGISTERED: {
    meaning: 'The platform is registered at this bank.',
    next: 'Send `replace: true` to register again.',
  },
  BANK_REGISTRATION_REFUSED: {
    meaning: 'The bank did not register the platform; the message has its words.',
    next: 'Fix what the bank says, or run `svc banks test` to see which step fails.',
  },
  SOFTWARE_STATEMENT_MISSING: {
    meaning: 'No software statement of the Open Banking directory is set.',
    next: 'Set it: `svc banks software-statement set`.',
  },
  SOFTWARE_STATEMENT_IN_FILE: {
    meaning: 'The software statement is in a file, which SVC_BANK_SOFTWARE_STATEMENT names.',
    next: 'Change the file and restart the service.',
  },
  BANK_NOT_CONFIGURED: {
    meaning: 'No bank is configured, or the platform is not registered with it: no payment can be taken.',
    next: 'Ask the operator.',
  },
  IDP_UNAVAILABLE: { meaning: 'The identity provider does not answer.', next: 'Repeat later.' },
  SERVICE_UNAVAILABLE: { meaning: 'The service or its database is not ready.', next: 'Repeat later.' },
  INTERNAL_ERROR: { meaning: 'An unexpected failure.', next: 'Report it with its `request_id`.' },
}
