/**
 * How a person signed in: the claim `acr` of a token, and `acr_values` of a request for one. Keycloak numbers its levels
 * of authentication the same way.
 */
export const ACR = { password: '1', secondFactor: '2' } as const

/** Whether a request accepts only a sign-in with a second factor. */
export function asksForFactor(acrValues: unknown): boolean {
  return typeof acrValues === 'string' && acrValues.split(' ').every((value) => value === ACR.secondFactor)
}
