import { createHash, randomBytes, randomUUID } from 'node:crypto'
import { errors, jwtVerify } from 'jose'
import type { JWTPayload } from 'jose'
import { sha256Hex } from '../../lib/hmac.ts'
import { BankUnavailableError } from '../connector.ts'
import { jsonOf } from '../discovery.ts'
import { bankReturnAddress } from '../redirects.ts'
import type { BankRedirects, ReturnOutcome, ReturnRefusal } from '../redirects.ts'
import type { Obie } from './obie.ts'
import { obieContext } from './seal-contexts.ts'
import { ALGORITHM, halfHash } from './signing.ts'
import { findConsent, findLastVisit, findVisit, hasVisitOf, insertVisit, saveReturn } from './store-sql.ts'
import type { ConsentRow, VisitRow } from './store-sql.ts'

const REQUEST_SECONDS = 600
/** Strong customer authentication; nothing weaker authorises a payment. */
const SCA = 'urn:openbanking:psd2:sca'
const SCOPE = 'openid payments'
const RESPONSE_TYPE = 'code id_token'
const TOLERANCE_SECONDS = 60

/** The payer's way to the bank and back: hybrid flow with a signed request object (FAPI 1.0 Advanced, section 5.2.3). */
export function makeRedirects(obie: Obie): BankRedirects {
  return {
    begin: async ({ state, browser }, signal) => {
      const consent = await findConsent(obie.pool, state)
      if (consent?.consent_id == null)
        throw new BankUnavailableError(`${obie.profile.id}: the payment is not staged`, { bank: 'unknown' })
      const { code_challenge_methods_supported: methods } = await obie.discovery.metadata(signal)
      const nonce = randomUUID()
      const verifier = methods.includes('S256') ? randomBytes(32).toString('base64url') : ''
      await insertVisit(obie.pool, {
        nonce,
        state,
        browser,
        verifier: obie.sealer.seal(verifier, obieContext('visits.verifier', nonce)),
      })
      return { location: await addressOf(obie, { state, nonce, verifier, consentId: consent.consent_id }, signal) }
    },
    receiveReturn: async ({ state, browser, params }, signal) => {
      const outcome = await judge(obie, { state, browser, params, signal })
      if (outcome.outcome === 'refused') await recordRefusal(obie, state, outcome.reason)
      return outcome
    },
  }
}

type AuthorisationRequest = { state: string; nonce: string; verifier: string; consentId: string }

/** The bank's address with a request object in it, or pushed to the bank where it takes that (RFC 9126). */
async function addressOf(
  obie: Obie,
  { state, nonce, verifier, consentId }: AuthorisationRequest,
  signal: AbortSignal,
): Promise<string> {
  const { profile, discovery, signer, tokens, http } = obie
  const metadata = await discovery.metadata(signal)
  const clientId = obie.clientId()
  const now = Math.floor(Date.now() / 1_000)
  const challenge = createHash('sha256').update(verifier).digest('base64url')
  const request = await signer.jwt({
    iss: clientId,
    aud: profile.issuer,
    response_type: RESPONSE_TYPE,
    client_id: clientId,
    redirect_uri: bankReturnAddress(obie.publicUrl),
    scope: SCOPE,
    state,
    nonce,
    nbf: now,
    exp: now + REQUEST_SECONDS,
    max_age: 3_600,
    ...(verifier !== '' ? { code_challenge: challenge, code_challenge_method: 'S256' } : {}),
    claims: {
      id_token: {
        openbanking_intent_id: { value: consentId, essential: true },
        acr: { essential: true, values: [SCA] },
      },
    },
  })
  const address = new URL(metadata.authorization_endpoint)
  address.searchParams.set('client_id', clientId)
  if (profile.quirks.includes('nonce_in_query')) address.searchParams.set('nonce', nonce)
  const pushUrl = metadata.pushed_authorization_request_endpoint
  if (pushUrl === undefined) {
    for (const [name, value] of [
      ['response_type', RESPONSE_TYPE],
      ['scope', SCOPE],
      ['request', request],
    ] as const)
      address.searchParams.set(name, value)
    return address.href
  }
  const body = new URLSearchParams({ request, ...(await tokens.clientParameters(signal)) }).toString()
  const headers = { 'content-type': 'application/x-www-form-urlencoded' }
  const answer = await http.send({ step: 'pushed request', method: 'POST', url: pushUrl, headers, body, state }, signal)
  const pushed = jsonOf(answer.body)
  const uri = typeof pushed === 'object' && pushed !== null && 'request_uri' in pushed ? pushed.request_uri : undefined
  if (answer.status !== 201 || typeof uri !== 'string')
    throw new BankUnavailableError(`${profile.id}: it does not take the request (${answer.status})`, {
      bank: 'unknown',
    })
  address.searchParams.set('request_uri', uri)
  return address.href
}

type Return = { state: string; browser: string; params: URLSearchParams; signal: AbortSignal }

function refused(reason: ReturnRefusal): Extract<ReturnOutcome, { outcome: 'refused' }> {
  return { outcome: 'refused', reason }
}

async function judge(obie: Obie, { state, browser, params, signal }: Return): Promise<ReturnOutcome> {
  const consent = await findConsent(obie.pool, state)
  if (consent === null || params.getAll('state').join() !== state) return refused('UNKNOWN_STATE')
  if (!(await hasVisitOf(obie.pool, { state, browser }))) return refused('OTHER_BROWSER')
  const issuer = params.get('iss')
  if (issuer !== null && issuer !== obie.profile.issuer) return refused('ISSUER_MISMATCH')
  const [code, idToken, error] = ['code', 'id_token', 'error'].map((name) => params.getAll(name))
  if (error?.length === 1 && /^[a-z_]{1,64}$/.test(error[0] ?? '')) return { outcome: 'error', error: error[0] ?? '' }
  if (code?.length !== 1 || idToken?.length !== 1 || !code[0] || !idToken[0]) return refused('RESPONSE_INVALID')
  const claims = await verifyIdToken(obie, idToken[0], signal)
  if (typeof claims === 'string') return refused(claims)
  const visit = await visitOf(obie, claims, { state, browser })
  const reason =
    visit === null ? 'NONCE_MISMATCH' : problemOfReturn(obie, claims, { consent, visit, browser, code: code[0] })
  if (reason !== undefined || visit === null) return refused(reason ?? 'NONCE_MISMATCH')
  const own = randomBytes(32).toString('base64url')
  const isFirst = await saveReturn(obie.pool, {
    nonce: visit.nonce,
    codeHash: sha256Hex(own),
    bankCode: obie.sealer.seal(code[0], obieContext('visits.bank_code', visit.nonce)),
  })
  return isFirst ? { outcome: 'code', code: own } : refused('ALREADY_RETURNED')
}

/** The visit that the id_token is about. Without a nonce, where the bank leaves it out, the browser's last one. */
async function visitOf(
  { pool, profile }: Obie,
  { nonce }: JWTPayload,
  { state, browser }: Pick<Return, 'state' | 'browser'>,
): Promise<VisitRow | null> {
  if (typeof nonce === 'string') return findVisit(pool, { state, nonce })
  return profile.quirks.includes('id_token_without_nonce') ? findLastVisit(pool, { state, browser }) : null
}

type Expected = { consent: ConsentRow; visit: VisitRow; browser: string; code: string }

/** The rules of an id_token that is the bank's: it belongs to this visit, this consent, this state and this code. */
function problemOfReturn(
  { profile, log }: Obie,
  claims: JWTPayload,
  { consent, visit, browser, code }: Expected,
): ReturnRefusal | undefined {
  const { quirks } = profile
  const intent = claims['openbanking_intent_id']
  const acr = claims['acr']
  const lacks = (value: unknown, quirk: (typeof quirks)[number]): boolean => {
    const isTolerated = value === undefined && quirks.includes(quirk)
    if (isTolerated) log.info({ bank: profile.id, quirk }, 'a deviation of the bank was tolerated')
    return isTolerated
  }
  if (visit.browser !== browser) return 'OTHER_BROWSER'
  if (visit.returned) return 'ALREADY_RETURNED'
  if (intent !== consent.consent_id && !lacks(intent, 'id_token_without_consent_id')) return 'INTENT_MISMATCH'
  if (claims['s_hash'] !== halfHash(visit.state)) return 'S_HASH_MISMATCH'
  if (claims['c_hash'] !== halfHash(code)) return 'C_HASH_MISMATCH'
  if (acr !== SCA && !lacks(acr, 'id_token_without_acr')) return 'ACR_MISMATCH'
  return undefined
}

const CLAIM_REFUSALS: Readonly<Record<string, ReturnRefusal>> = { iss: 'ISSUER_MISMATCH', aud: 'AUDIENCE_MISMATCH' }

async function verifyIdToken(obie: Obie, token: string, signal: AbortSignal): Promise<JWTPayload | ReturnRefusal> {
  const { profile, discovery } = obie
  const isInMilliseconds = profile.quirks.includes('id_token_exp_in_milliseconds')
  try {
    const { payload } = await jwtVerify(token, discovery.keys(signal), {
      algorithms: [ALGORITHM],
      issuer: profile.issuer,
      audience: obie.clientId(),
      clockTolerance: TOLERANCE_SECONDS,
      requiredClaims: ['exp', 'iat'],
    })
    const end = (payload.exp ?? 0) / (isInMilliseconds ? 1_000 : 1)
    return end + TOLERANCE_SECONDS < Date.now() / 1_000 ? 'TOKEN_EXPIRED' : payload
  } catch (error) {
    if (error instanceof BankUnavailableError) throw error
    if (error instanceof errors.JOSEAlgNotAllowed) return 'ALG_NOT_ALLOWED'
    if (error instanceof errors.JWTExpired) return 'TOKEN_EXPIRED'
    if (error instanceof errors.JWTClaimValidationFailed) return CLAIM_REFUSALS[error.claim] ?? 'RESPONSE_INVALID'
    if (error instanceof errors.JWSSignatureVerificationFailed || error instanceof errors.JWKSNoMatchingKey)
      return 'SIGNATURE_INVALID'
    if (error instanceof errors.JOSEError) return 'RESPONSE_INVALID'
    throw error
  }
}

async function recordRefusal(obie: Obie, state: string, reason: ReturnRefusal): Promise<void> {
  await obie.record({
    bank: obie.profile.id,
    step: 'return',
    state,
    interactionId: randomUUID(),
    httpStatus: undefined,
    verdict: reason,
  })
}
