export const EXIT = {
  ok: 0,
  failure: 1,
  usage: 2,
  assertion: 3,
  signedOut: 4,
  forbidden: 5,
  notFound: 6,
  conflict: 7,
  network: 8,
  waitTimedOut: 9,
  interrupted: 130,
  terminated: 143,
} as const
export type ExitCode = (typeof EXIT)[keyof typeof EXIT]

export const EXIT_MEANINGS: readonly { code: ExitCode; meaning: string }[] = [
  { code: EXIT.ok, meaning: 'Done. A list without entries is a success too.' },
  { code: EXIT.failure, meaning: 'Another failure, or the service failed (5xx).' },
  { code: EXIT.usage, meaning: 'The command line or a value in it is wrong; nothing was changed.' },
  { code: EXIT.assertion, meaning: 'A check failed, or the awaited state can no longer come.' },
  { code: EXIT.signedOut, meaning: 'No identity was given, or it is not accepted.' },
  { code: EXIT.forbidden, meaning: 'The identity may not do this: role, KYB not approved, payout hold.' },
  { code: EXIT.notFound, meaning: 'There is no such thing.' },
  { code: EXIT.conflict, meaning: 'The thing is in a state that does not allow this.' },
  { code: EXIT.network, meaning: 'The service was not reached, or asks to slow down; a repeat may succeed.' },
  { code: EXIT.waitTimedOut, meaning: 'The awaited state did not come in time; it still may.' },
  { code: EXIT.interrupted, meaning: 'Interrupted with Ctrl+C.' },
  { code: EXIT.terminated, meaning: 'Ended with SIGTERM.' },
]

/**
 * How each error of this program ends it; one that is not here is another failure. Where an error says its own exit code,
 * that counts, as with what the service answers, which ends by its status.
 */
const ERRORS: readonly (readonly [exit: ExitCode, codes: string])[] = [
  [EXIT.usage, 'USAGE CONFIGURATION CONFIRMATION_NEEDED FILE_EXISTS FOREIGN_DATA LIVE_MODE NOT_CONFIRMED NO_CHECKOUT'],
  [EXIT.usage, 'NO_SCENARIO REQUEST_NOT_SENT SCENARIO_INVALID SIGNATURE_NEEDED VALIDATION_FAILED'],
  [EXIT.assertion, 'AUDIT_BROKEN BANK_TEST_FAILED DECIDED_BEFORE FORWARD_FAILED KYB_REFUSED NOT_DELIVERED'],
  [EXIT.assertion, 'SCENARIO_FAILED SIGNATURE_INVALID STATE_IMPOSSIBLE TRIGGER_FAILED'],
  [EXIT.signedOut, 'CLIENT_SECRET_MISSING INVALID_CLIENT LOGIN_FAILED LOGIN_REFUSED NOT_SIGNED_IN NO_LOGIN_PENDING'],
  [EXIT.signedOut, 'SESSION_EXPIRED WRONG_REALM'],
  [EXIT.forbidden, 'FORBIDDEN REALM_DISABLED'],
  [
    EXIT.notFound,
    'BANK_ACCOUNT_NOT_FOUND BANK_NOT_FOUND NOT_FOUND NO_KEY NO_MAIL_KEPT NO_SANDBOX_DATA NO_SUCH_PROFILE',
  ],
  [EXIT.notFound, 'NO_SUCH_TOPIC REGISTRATION_DONE SANDBOX_ONLY SOFTWARE_STATEMENT_MISSING UNKNOWN_REALM'],
  [EXIT.conflict, 'ALREADY_RUNNING KYB_TRANSITION_INVALID NO_IDENTITY_PROVIDER NO_SESSION PAYMENT_NOT_SETTLED'],
  [EXIT.conflict, 'PROFILE_EXISTS SEED_UNFINISHED STATE_DIRECTORY_TAKEN TOO_MANY_KEYS'],
  [EXIT.network, 'DATABASE_AWAY IDP_UNAVAILABLE NOT_RUNNING RECEIVER_UNREACHABLE REQUEST_TIMED_OUT'],
  [EXIT.network, 'SERVICE_UNREACHABLE STREAM_LOST'],
  [EXIT.waitTimedOut, 'LOGIN_TIMED_OUT WAIT_TIMED_OUT'],
  [EXIT.interrupted, 'INTERRUPTED REQUEST_STOPPED'],
]
const BY_CODE = new Map(ERRORS.flatMap(([exit, codes]) => codes.split(' ').map((code) => [code, exit])))

export function exitOfError(code: string): ExitCode {
  return BY_CODE.get(code) ?? EXIT.failure
}

/** The exit code of what a signal ended; `reason` is an abort's, which is the signal's name. */
export function exitOfSignal(reason: unknown): ExitCode {
  return reason === 'SIGINT' ? EXIT.interrupted : EXIT.terminated
}

export function exitOfStatus(status: number): ExitCode {
  if (status === 401) return EXIT.signedOut
  if (status === 403) return EXIT.forbidden
  if (status === 404 || status === 410) return EXIT.notFound
  if (status === 409 || status === 412) return EXIT.conflict
  if (status === 429) return EXIT.network
  if (status >= 500) return EXIT.failure
  return EXIT.usage
}
