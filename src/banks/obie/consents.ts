import { randomUUID } from 'node:crypto'
import { normalIdentification, schemeOf } from '../../lib/account-identification.ts'
import { sha256Hex } from '../../lib/hmac.ts'
import { BankUnavailableError } from '../connector.ts'
import type { AuthorisationOutcome, ConsentRequest, ConsentView, DebtorAccount, StagedConsent } from '../connector.ts'
import { bankAuthoriseAddress } from '../redirects.ts'
import { consentBody } from './bodies.ts'
import type { ConsentBody } from './bodies.ts'
import type { Obie } from './obie.ts'
import { keepTokens, leaseTokens } from './payer-tokens.ts'
import { ConsentAnswer, RefusedByBankError } from './resources.ts'
import { obieContext } from './seal-contexts.ts'
import { findConsent, findVisitByCode, insertConsent, saveConsentId } from './store-sql.ts'
import type { ConsentRow, VisitRow } from './store-sql.ts'
import { problemOfTerms } from './terms.ts'
import { GrantRefusedError } from './tokens.ts'
import { VERSIONS, failureOfReason, isOfAllRequests } from './versions.ts'

function requestOf({ sealer }: Obie, { request, state }: ConsentRow): string {
  return sealer.open(request, obieContext('consents.request', state))
}

/** What the payer is asked to approve, as it was sent. */
export function bodyOf(obie: Obie, consent: ConsentRow): ConsentBody {
  return JSON.parse(requestOf(obie, consent)) as ConsentBody
}

function addressOf(
  { profile }: Obie,
  { kind }: Pick<ConsentRow, 'kind'>,
): { url: string; version: keyof typeof VERSIONS } {
  if (kind === 'payment')
    return { url: `${profile.payments.base_url}/domestic-payment-consents`, version: profile.payments.version }
  const { vrp } = profile
  if (vrp === undefined) throw new Error(`${profile.id} takes no mandates`)
  return { url: `${vrp.base_url}/domestic-vrp-consents`, version: vrp.version }
}

/** Stages a payment or mandate. It is stored before it is sent, so that a repeat sends the same. */
export async function stageConsent(obie: Obie, request: ConsentRequest, signal: AbortSignal): Promise<StagedConsent> {
  const { pool, sealer, profile } = obie
  const { state } = request
  const kind = request.mandate === undefined ? 'payment' : 'mandate'
  const body = JSON.stringify(consentBody(request, obie))
  await insertConsent(pool, {
    state,
    bank: profile.id,
    kind,
    request: sealer.seal(body, obieContext('consents.request', state)),
    first_reference: kind === 'mandate' ? (request.remittanceReference ?? null) : null,
  })
  const consent = await findConsent(pool, state)
  if (consent === null) throw new Error('the consent was not stored')
  const consentId = consent.consent_id ?? (await sendConsent(obie, consent, signal))
  return { bankConsentReference: consentId, redirectUrl: bankAuthoriseAddress(obie.publicUrl, state) }
}

async function sendConsent(obie: Obie, consent: ConsentRow, signal: AbortSignal): Promise<string> {
  const { state } = consent
  const body = requestOf(obie, consent)
  try {
    const { Data } = await obie.resources.call(
      {
        step: 'consent',
        method: 'POST',
        url: addressOf(obie, consent).url,
        token: await obie.tokens.ofClient(signal),
        state,
        body,
        // At most 40 characters, and the same for a repeat.
        idempotencyKey: sha256Hex(state).slice(0, 40),
        answer: ConsentAnswer,
        problemOf: ({ Data }) => problemOfTerms(body, Data),
      },
      signal,
    )
    await saveConsentId(obie.pool, { state, consentId: Data.ConsentId })
    return Data.ConsentId
  } catch (error) {
    // The service knows no failure of a payment that was never staged: it expires (decision 107).
    if (error instanceof RefusedByBankError) {
      const bank = isOfAllRequests(error.reason) ? 'silent' : 'answers'
      throw new BankUnavailableError(`${obie.profile.id}, ${error.message}`, { cause: error, bank })
    }
    throw error
  }
}

/** The consent as the bank has it now. */
async function readConsent(obie: Obie, consent: ConsentRow, signal: AbortSignal) {
  const { url, version } = addressOf(obie, consent)
  const { Data } = await obie.resources.call(
    {
      step: 'consent status',
      method: 'GET',
      url: `${url}/${encodeURIComponent(consent.consent_id ?? '')}`,
      token: await obie.tokens.ofClient(signal),
      state: consent.state,
      answer: ConsentAnswer,
      problemOf: ({ Data: { ConsentId: id, ...terms } }) =>
        id === consent.consent_id
          ? problemOfTerms(requestOf(obie, consent), terms)
          : 'its answer is about another consent',
    },
    signal,
  )
  const reason = Data.StatusReason?.[0]?.StatusReasonCode
  const failureCode = reason === undefined ? 'ACCESS_DENIED' : failureOfReason(reason)
  return {
    status: VERSIONS[version].consents[Data.Status],
    isUsedUp: Data.Status === VERSIONS[version].usedUp,
    failureCode,
    account: Data.Debtor ?? Data.DebtorAccount ?? Data.Refund,
  } as const
}

/** Whether the bank has taken a payment under a consent that is good for one. */
export async function isUsedUp(obie: Obie, consent: ConsentRow, signal: AbortSignal): Promise<boolean> {
  return (await readConsent(obie, consent, signal)).isUsedUp
}

/** The bank's own view of a consent, whatever a browser says. */
export async function viewConsent(obie: Obie, state: string, signal: AbortSignal): Promise<ConsentView> {
  const consent = await findConsent(obie.pool, state)
  if (consent?.consent_id == null) return { status: 'awaiting' }
  const { status, failureCode } = await readConsent(obie, consent, signal)
  if (status === 'rejected') return { status, failureCode }
  return { status: status ?? 'awaiting' }
}

/**
 * Exchanges the bank's code for the payer's tokens, once: a double click must not use the code twice, which banks answer by
 * ending what the first one got.
 */
async function takeTokens(
  obie: Obie,
  { state, visit, bankCode }: { state: string; visit: VisitRow; bankCode: string },
  signal: AbortSignal,
): Promise<void> {
  const { pool, sealer, tokens, profile } = obie
  const isTaken = async (): Promise<boolean> => (await findConsent(pool, state))?.tokens != null
  if (await isTaken()) return
  if (!(await leaseTokens(pool, state)))
    throw new BankUnavailableError(`${profile.id}: the code is being exchanged`, { bank: 'unknown' })
  if (await isTaken()) return
  const code = sealer.open(bankCode, obieContext('visits.bank_code', visit.nonce))
  const verifier = sealer.open(visit.verifier, obieContext('visits.verifier', visit.nonce))
  await keepTokens(obie, state, await tokens.ofCode({ code, verifier, state }, signal))
}

/** Exchanges the bank's code that a code of ours stands for, and believes what the bank then says of the consent. */
export async function exchangeCode(
  obie: Obie,
  { state, code }: { state: string; code: string },
  signal: AbortSignal,
): Promise<AuthorisationOutcome> {
  const consent = await findConsent(obie.pool, state)
  const visit = await findVisitByCode(obie.pool, { state, codeHash: sha256Hex(code) })
  if (consent?.consent_id == null || visit?.bank_code == null) {
    const call = { bank: obie.profile.id, step: 'return', interactionId: randomUUID(), httpStatus: undefined } as const
    await obie.record({ ...call, state, verdict: 'CODE_INVALID' })
    return { outcome: 'code-invalid' }
  }
  try {
    await takeTokens(obie, { state, visit, bankCode: visit.bank_code }, signal)
  } catch (error) {
    if (error instanceof GrantRefusedError) return { outcome: 'rejected', failureCode: 'AUTHORISATION_FAILED' }
    throw error
  }
  const { status, failureCode, account } = await readConsent(obie, consent, signal)
  if (status === 'rejected') return { outcome: 'rejected', failureCode }
  if (status !== 'authorised')
    throw new BankUnavailableError(`${obie.profile.id} has not noted the authorisation yet`, { bank: 'answers' })
  return {
    outcome: 'authorised',
    bankReference: consent.consent_id,
    settleInSeconds: 0,
    debtorAccount: debtorAccountOf(account),
  }
}

/** The payer's account as a bank names it; undefined for one that refunds can't use. */
export function debtorAccountOf(
  account: { SchemeName: string; Identification: string } | undefined,
): DebtorAccount | undefined {
  const scheme = schemeOf(account?.SchemeName ?? '')
  const identification = scheme === undefined ? undefined : normalIdentification(scheme, account?.Identification ?? '')
  return scheme === undefined || identification === undefined ? undefined : { scheme, identification }
}
