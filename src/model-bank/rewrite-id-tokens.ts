import { SignJWT, UnsecuredJWT, decodeJwt, importPKCS8 } from 'jose'
import type { JWTPayload } from 'jose'
import type { Provider } from 'oidc-provider'
import type { FaultName, Faults } from './faults.ts'
import type { QuirkName, Quirks } from './quirks.ts'
import { SIGNING_ALGORITHM, makeSigningKey } from './signing-keys.ts'
import type { SigningKey } from './signing-keys.ts'

type Change = (claims: JWTPayload) => JWTPayload

/** What a quirk does to every id token. */
const QUIRKS: readonly [QuirkName, Change][] = [
  ['id_token_without_acr', without('acr')],
  ['id_token_without_auth_time', without('auth_time')],
  ['id_token_without_consent_id', without('openbanking_intent_id')],
  ['id_token_without_nonce', without('nonce')],
  ['id_token_exp_in_milliseconds', (claims) => ({ ...claims, exp: (claims.exp ?? 0) * 1_000 })],
]

/** What a fault does to the id token of a return: each is an attack, or a bank that must not be believed. */
const FAULTS: readonly [FaultName, Change][] = [
  ['return_wrong_nonce', withClaim('nonce', 'another-nonce')],
  ['return_wrong_issuer', withClaim('iss', 'https://another-bank.example')],
  ['return_wrong_audience', withClaim('aud', 'client-another')],
  ['return_wrong_intent', withClaim('openbanking_intent_id', 'pdc-another')],
  ['return_wrong_acr', withClaim('acr', 'urn:openbanking:psd2:ca')],
  ['return_wrong_c_hash', withClaim('c_hash', 'AAAAAAAAAAAAAAAAAAAAAA')],
  ['return_wrong_s_hash', withClaim('s_hash', 'AAAAAAAAAAAAAAAAAAAAAA')],
  ['return_without_c_hash', without('c_hash')],
  ['return_without_s_hash', without('s_hash')],
  ['return_expired', (claims) => ({ ...claims, iat: (claims.iat ?? 0) - 7_200, exp: (claims.iat ?? 0) - 3_600 })],
  ['return_wrong_key', (claims) => claims],
  ['return_alg_none', (claims) => claims],
  ['return_alg_rs256', (claims) => claims],
]

function without(claim: string): Change {
  return (claims) => Object.fromEntries(Object.entries(claims).filter(([name]) => name !== claim))
}

function withClaim(claim: string, value: string): Change {
  return (claims) => ({ ...claims, [claim]: value })
}

/** Alters id tokens on their way out, as the quirks and faults that are on demand. Without any nothing is touched. */
export function rewriteIdTokens(
  provider: Provider,
  { key, quirks, faults }: { key: SigningKey; quirks: Quirks; faults: Faults },
): void {
  provider.use(async (ctx, next) => {
    await next()
    const changes = QUIRKS.flatMap(([name, change]) => (quirks.has(name) ? [change] : []))
    const location = ctx.res.getHeader('location')
    const [address = '', fragment] = typeof location === 'string' ? location.split('#') : []
    if (fragment !== undefined) {
      const parameters = new URLSearchParams(fragment)
      const idToken = parameters.get('id_token')
      if (idToken !== null) parameters.set('id_token', await rewriteReturn(idToken, { key, changes, faults }))
      if (faults.take('return_wrong_state', 'return') !== undefined) parameters.set('state', 'another-state')
      if (faults.take('return_wrong_issuer_parameter', 'return') !== undefined) {
        parameters.set('iss', 'https://another-bank.example')
      }
      ctx.response.set('location', `${address}#${parameters.toString()}`)
    }
    const body: unknown = ctx.body
    if (changes.length > 0 && hasIdToken(body)) body.id_token = await sign(apply(changes, body.id_token), key)
  })
}

async function rewriteReturn(
  idToken: string,
  { key, changes, faults }: { key: SigningKey; changes: Change[]; faults: Faults },
): Promise<string> {
  const found = FAULTS.find(([name]) => faults.take(name, 'return') !== undefined)
  if (found === undefined) return changes.length === 0 ? idToken : sign(apply(changes, idToken), key)
  const [name, change] = found
  const claims = apply([...changes, change], idToken)
  if (name === 'return_alg_none') return new UnsecuredJWT(claims).encode()
  if (name === 'return_alg_rs256') return signRs256(claims, key)
  return sign(claims, name === 'return_wrong_key' ? { ...(await makeSigningKey()), kid: key.kid } : key)
}

function apply(changes: Change[], idToken: string): JWTPayload {
  return changes.reduce<JWTPayload>((claims, change) => change(claims), decodeJwt(idToken))
}

function sign(claims: JWTPayload, { privateKey, kid }: SigningKey): Promise<string> {
  return new SignJWT(claims).setProtectedHeader({ alg: SIGNING_ALGORITHM, kid }).sign(privateKey)
}

/** The same key with the older padding, which FAPI forbids. */
async function signRs256(claims: JWTPayload, { pem, kid }: SigningKey): Promise<string> {
  return new SignJWT(claims).setProtectedHeader({ alg: 'RS256', kid }).sign(await importPKCS8(pem, 'RS256'))
}

function hasIdToken(body: unknown): body is { id_token: string } {
  return typeof body === 'object' && body !== null && 'id_token' in body && typeof body.id_token === 'string'
}
