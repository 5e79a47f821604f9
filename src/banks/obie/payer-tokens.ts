import { z } from 'zod'
import { BankUnavailableError } from '../connector.ts'
import type { Obie } from './obie.ts'
import { obieContext } from './seal-contexts.ts'
import { findConsent, leaseRenewal, replaceTokens, saveTokens } from './store-sql.ts'
import type { ConsentRow } from './store-sql.ts'
import { GrantRefusedError, isUsable } from './tokens.ts'
import type { PayerTokens } from './tokens.ts'

const Stored = z.object({
  accessToken: z.string(),
  endsAt: z.number(),
  refreshToken: z.string().optional(),
  isRejected: z.boolean().default(false),
})

/** How long getting tokens may take before another process may try it. */
const LEASE_SECONDS = 15

/** Whether this process alone may now get tokens of a consent. */
export function leaseTokens(pool: Obie['pool'], state: string): Promise<boolean> {
  return leaseRenewal(pool, { state, seconds: LEASE_SECONDS })
}

export function tokensOf(obie: Obie, consent: ConsentRow): PayerTokens | undefined {
  if (consent.tokens === null) return undefined
  const text = obie.sealer.open(consent.tokens, obieContext('consents.tokens', consent.state))
  const { accessToken, endsAt, refreshToken, isRejected } = Stored.parse(JSON.parse(text))
  return { accessToken, endsAt, refreshToken, isRejected }
}

export async function keepTokens(obie: Obie, state: string, tokens: PayerTokens): Promise<void> {
  await saveTokens(obie.pool, { state, tokens: sealed(obie, state, tokens) })
}

function sealed({ sealer }: Obie, state: string, tokens: PayerTokens): string {
  return sealer.seal(JSON.stringify(tokens), obieContext('consents.tokens', state))
}

/** Has a payer's token renewed, where it can be, that the bank does not take before its end. */
export async function rejectToken(obie: Obie, { state, token }: { state: string; token: string }): Promise<void> {
  const consent = await findConsent(obie.pool, state)
  if (consent?.tokens == null) return
  const known = tokensOf(obie, consent)
  if (known?.accessToken !== token || known.refreshToken === undefined) return
  await replaceTokens(obie.pool, {
    state,
    before: consent.tokens,
    tokens: sealed(obie, state, { ...known, isRejected: true }),
  })
}

const isGood = (tokens: PayerTokens): boolean => isUsable(tokens) && tokens.isRejected !== true

/**
 * The payer's token for a payment, renewed where it has ended or was rejected, and can be. A refresh token is used by one
 * process at a time.
 * @throws {GrantRefusedError} where the payer would have to authorise again
 * @throws {BankUnavailableError}
 */
export async function usableToken(obie: Obie, consent: ConsentRow, signal: AbortSignal): Promise<string> {
  const { state } = consent
  const tokens = tokensOf(obie, consent)
  if (tokens !== undefined && isGood(tokens)) return tokens.accessToken
  if (tokens?.refreshToken === undefined) throw new GrantRefusedError('the token of the payer has ended')
  if (!(await leaseTokens(obie.pool, state)))
    throw new BankUnavailableError(`${obie.profile.id}: the token is being renewed`, { bank: 'unknown' })
  // Another process may have renewed it before the lease was ours.
  const current = await findConsent(obie.pool, state)
  const known = (current === null ? undefined : tokensOf(obie, current)) ?? tokens
  if (known.refreshToken === undefined || isGood(known)) return known.accessToken
  const renewed = await renew(obie, { state, known: { ...known, refreshToken: known.refreshToken } }, signal)
  await keepTokens(obie, state, renewed)
  return renewed.accessToken
}

async function renew(
  { tokens }: Obie,
  { state, known }: { state: string; known: PayerTokens & { refreshToken: string } },
  signal: AbortSignal,
): Promise<PayerTokens> {
  try {
    const { refreshToken = known.refreshToken, ...renewed } = await tokens.ofRefresh({ ...known, state }, signal)
    return { ...renewed, refreshToken }
  } catch (error) {
    if (!(error instanceof GrantRefusedError) || !isUsable(known)) throw error
    // A gateway may have rejected a token that is good: it is used to its end.
    return { ...known, refreshToken: undefined, isRejected: false }
  }
}
