import { z } from 'zod'
import { BankUnavailableError } from '../connector.ts'
import type { Obie } from './obie.ts'
import { obieContext } from './seal-contexts.ts'
import { findConsent, leaseRenewal, replaceTokens, saveTokens } from './store-sql.ts'
import type { ConsentRow } from './store-sql.ts'
import { GrantRefusedError, isUsable } from './tokens.ts'
import type { PayerTokens } from './tokens.ts'

const Stored = z.object({ accessToken: z.string(), endsAt: z.number(), refreshToken: z.string().optional() })

/** How long getting tokens may take before another process may try it. */
const LEASE_SECONDS = 15

/** Whether this process alone may now get tokens of a consent. */
export function leaseTokens(pool: Obie['pool'], state: string): Promise<boolean> {
  return leaseRenewal(pool, { state, seconds: LEASE_SECONDS })
}

export function tokensOf(obie: Obie, consent: ConsentRow): PayerTokens | undefined {
  if (consent.tokens === null) return undefined
  const text = obie.sealer.open(consent.tokens, obieContext('consents.tokens', consent.state))
  const { accessToken, endsAt, refreshToken } = Stored.parse(JSON.parse(text))
  return { accessToken, endsAt, refreshToken }
}

export async function keepTokens(obie: Obie, state: string, tokens: PayerTokens): Promise<void> {
  await saveTokens(obie.pool, { state, tokens: sealed(obie, state, tokens) })
}

function sealed({ sealer }: Obie, state: string, tokens: PayerTokens): string {
  return sealer.seal(JSON.stringify(tokens), obieContext('consents.tokens', state))
}

/**
 * Has a payer's token renewed that the bank does not take before its end. One that can't be renewed is kept, because a
 * gateway may have rejected it.
 */
export async function endToken(obie: Obie, { state, token }: { state: string; token: string }): Promise<void> {
  const consent = await findConsent(obie.pool, state)
  if (consent?.tokens == null) return
  const known = tokensOf(obie, consent)
  if (known?.accessToken !== token || known.refreshToken === undefined) return
  await replaceTokens(obie.pool, {
    state,
    before: consent.tokens,
    tokens: sealed(obie, state, { ...known, endsAt: 0 }),
  })
}

/**
 * The payer's token for a payment, renewed where it has ended and can be. A refresh token is used by one process at a time.
 * @throws {GrantRefusedError} where the payer would have to authorise again
 * @throws {BankUnavailableError}
 */
export async function usableToken(obie: Obie, consent: ConsentRow, signal: AbortSignal): Promise<string> {
  const { state } = consent
  const tokens = tokensOf(obie, consent)
  if (tokens !== undefined && isUsable(tokens)) return tokens.accessToken
  if (tokens?.refreshToken === undefined) throw new GrantRefusedError('the token of the payer has ended')
  if (!(await leaseTokens(obie.pool, state)))
    throw new BankUnavailableError(`${obie.profile.id}: the token is being renewed`, { bank: 'unknown' })
  // Another process may have renewed it before the lease was ours.
  const current = await findConsent(obie.pool, state)
  const { refreshToken, ...known } = (current === null ? undefined : tokensOf(obie, current)) ?? tokens
  if (refreshToken === undefined || isUsable({ ...known, refreshToken })) return known.accessToken
  const renewed = await obie.tokens.ofRefresh({ refreshToken, state }, signal)
  await keepTokens(obie, state, { ...renewed, refreshToken: renewed.refreshToken ?? refreshToken })
  return renewed.accessToken
}
