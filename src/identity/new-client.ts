import { randomBytes, randomInt } from 'node:crypto'
import { credentialIdOf, issuerOf } from '../lib/realms.ts'
import type { IdentityProvider } from './provider.ts'

const SUFFIX_LENGTH = 8
const LETTERS = 'abcdefghijklmnopqrstuvwxyz0123456789'

/** A fresh id for a client of this realm. Two are alike once in 2.8 trillion, and the second one is refused. */
export function newClientId(realm: string): string {
  const suffix = Array.from({ length: SUFFIX_LENGTH }, () => LETTERS[randomInt(LETTERS.length)]).join('')
  return credentialIdOf(realm, suffix)
}

/** A client's secret: 256 random bits. Nobody keeps it but its owner. */
export function newClientSecret(): string {
  return randomBytes(32).toString('base64url')
}

/** Where a realm's clients get their tokens; null without an identity provider. */
export function tokenEndpointOf({ authUrl }: Pick<IdentityProvider, 'authUrl'>, realm: string): string | null {
  return authUrl === null ? null : `${issuerOf(authUrl, realm)}/protocol/openid-connect/token`
}
