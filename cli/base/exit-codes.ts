/** What the process says to scripts when it ends. Every number has one meaning in every command. */
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

/** One line per code, as `svc help exit-codes` prints them. */
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
