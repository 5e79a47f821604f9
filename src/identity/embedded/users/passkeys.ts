import { randomBytes } from 'node:crypto'
import { isIP } from 'node:net'
import type { WebAuthnCredential } from '@simplewebauthn/server'
import type { CommonQueryMethods } from 'slonik'
import { z } from 'zod'
import type { UserRecord } from '../record.ts'
import type { NewPasskey, Passkey } from './passkeys-sql.ts'
import { markPasskeyUsed } from './passkeys-sql.ts'

/*
 * Passkeys (WebAuthn level 3). The library checks what an authenticator has signed; it takes 0.2 s to load, so it is
 * loaded with the first page that needs it.
 */
const library = () => import('@simplewebauthn/server')

/** Whom a passkey is for: browsers show it to pages of this host alone. */
export type RelyingParty = { id: string; origin: string }

/** Null where browsers allow no passkeys: at an address without a name, and without TLS. */
export function relyingPartyOf(publicUrl: string): RelyingParty | null {
  const { hostname, origin, protocol } = new URL(publicUrl)
  const hasName = !hostname.startsWith('[') && isIP(hostname) === 0
  return hasName && (protocol === 'https:' || hostname === 'localhost') ? { id: hostname, origin } : null
}

/** What an authenticator has to sign, once. */
export function makeChallenge(): string {
  return randomBytes(32).toString('base64url')
}

/** EdDSA, ES256 and RS256: on every Node, and small enough for a form. */
const ALGORITHMS = [-8, -7, -257]
const TIMEOUT_MS = 300_000

/** `challenge`: what the page was made with. */
export type Ceremony = { party: RelyingParty; challenge: string }

/** What the browser needs in order to create a passkey. Who makes the authenticator is not asked. */
export async function creationOptions(
  { party, challenge }: Ceremony,
  { user, realmName, passkeys }: { user: UserRecord; realmName: string; passkeys: readonly Passkey[] },
): Promise<object> {
  const { generateRegistrationOptions } = await library()
  return generateRegistrationOptions({
    rpID: party.id,
    rpName: realmName,
    userID: new Uint8Array(Buffer.from(user.id)),
    // People may have an account in several realms of this host.
    userName: `${user.email} (${user.realm})`,
    userDisplayName: user.display_name ?? user.email,
    challenge: bytesOf(challenge),
    timeout: TIMEOUT_MS,
    supportedAlgorithmIDs: ALGORITHMS,
    excludeCredentials: passkeys.map(({ credential_id, transports }) => ({ id: credential_id, transports })),
    authenticatorSelection: { residentKey: 'preferred', userVerification: 'required' },
  })
}

/** What the browser needs in order to use one of the passkeys. */
export async function requestOptions({ party, challenge }: Ceremony, passkeys: readonly Passkey[]): Promise<object> {
  const { generateAuthenticationOptions } = await library()
  return generateAuthenticationOptions({
    rpID: party.id,
    challenge: bytesOf(challenge),
    timeout: TIMEOUT_MS,
    userVerification: 'required',
    allowCredentials: passkeys.map(({ credential_id, transports }) => ({ id: credential_id, transports })),
  })
}

const Base64url = z.string().regex(/^[\w-]+$/)
const Common = { id: Base64url, rawId: Base64url, type: z.literal('public-key') }
const Created = z.object({
  ...Common,
  response: z.object({
    clientDataJSON: Base64url,
    attestationObject: Base64url,
    transports: z
      .array(z.string().regex(/^[\w-]{1,32}$/))
      .max(8)
      .default([]),
  }),
})
const Used = z.object({
  ...Common,
  response: z.object({ clientDataJSON: Base64url, authenticatorData: Base64url, signature: Base64url }),
})

/** `reason`: for the log, since it is the library's. */
type Rejected = { reason: string }

/** Checks what an authenticator has signed for a new passkey. */
export async function verifyCreated(
  { party, challenge }: Ceremony,
  text: string,
): Promise<Omit<NewPasskey, 'name'> | Rejected> {
  const { verifyRegistrationResponse } = await library()
  try {
    const { registrationInfo } = await verifyRegistrationResponse({
      response: { ...Created.parse(JSON.parse(text)), clientExtensionResults: {} },
      expectedChallenge: challenge,
      expectedOrigin: party.origin,
      expectedRPID: party.id,
      requireUserVerification: true,
      supportedAlgorithmIDs: ALGORITHMS,
    })
    if (registrationInfo === undefined) return { reason: 'not verified' }
    const { credential, credentialDeviceType } = registrationInfo
    return {
      credentialId: credential.id,
      publicKey: Buffer.from(credential.publicKey).toString('base64url'),
      signCount: credential.counter,
      isSynced: credentialDeviceType === 'multiDevice',
      transports: credential.transports ?? [],
    }
  } catch (error) {
    return rejected(error)
  }
}

/** Checks what one of the user's passkeys has signed, and records the use. */
export async function verifyUsed(
  { party, challenge }: Ceremony,
  {
    db,
    userId,
    passkeys,
    text,
  }: { db: CommonQueryMethods; userId: string; passkeys: readonly Passkey[]; text: string },
): Promise<Passkey | Rejected> {
  const { verifyAuthenticationResponse } = await library()
  let passkey: Passkey | undefined
  let signCount: number
  try {
    const response = Used.parse(JSON.parse(text))
    passkey = passkeys.find(({ credential_id }) => credential_id === response.id)
    if (passkey === undefined) return { reason: 'not a passkey of this person' }
    const { verified, authenticationInfo } = await verifyAuthenticationResponse({
      response: { ...response, clientExtensionResults: {} },
      expectedChallenge: challenge,
      expectedOrigin: party.origin,
      expectedRPID: party.id,
      requireUserVerification: true,
      credential: credentialOf(passkey),
    })
    if (!verified) return { reason: 'the signature is wrong' }
    signCount = authenticationInfo.newCounter
  } catch (error) {
    return rejected(error)
  }
  const isRecorded = await markPasskeyUsed(db, { userId, credentialId: passkey.credential_id, signCount })
  return isRecorded ? passkey : { reason: 'the count of uses did not grow' }
}

function credentialOf({ credential_id, public_key, sign_count }: Passkey): WebAuthnCredential {
  return { id: credential_id, publicKey: bytesOf(public_key), counter: Number(sign_count) }
}

/** The library throws at everything that an authenticator or a thief may send. */
function rejected(error: unknown): Rejected {
  return { reason: error instanceof Error ? error.message.slice(0, 300) : 'unreadable' }
}

function bytesOf(base64url: string): Uint8Array<ArrayBuffer> {
  return new Uint8Array(Buffer.from(base64url, 'base64url'))
}
