/**
 * How a person signed in: the claim `acr` of a token, and `acr_values` of a request for one. Keycloak numbers its levels
 * of authentication the same way.
 */
export const ACR = { password: '1', secondFactor: '2' } as const

/**
 * How far ahead of now a sign-in may be dated: one right after the end of all sessions is in the next second
 * (protocol/sessions-sql.ts), and its time is the database's, whose clock may be ahead of this one. Of one that is hours
 * ahead, each test of its age would hold for as long.
 */
const AHEAD_SECONDS = 60

/** Whether a sign-in, in seconds since 1970, is of the last so many seconds. */
export function isRecentSignIn(at: number, seconds: number): boolean {
  const age = Date.now() / 1_000 - at
  return age >= -AHEAD_SECONDS && age <= seconds
}

/** Whether a request accepts only a sign-in with a second factor. */
export function asksForFactor(acrValues: unknown): boolean {
  return typeof acrValues === 'string' && acrValues.split(' ').every((value) => value === ACR.secondFactor)
}
