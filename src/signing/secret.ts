import { randomBytes } from 'node:crypto'
import type { App } from '../app.ts'
import { DomainError } from '../lib/errors.ts'
import type { SealContext, Sealer } from '../lib/seal.ts'
import type { SecretState } from './record.ts'
import { findSecrets } from './sql.ts'

/** A merchant's secrets in plain text; the previous one is null outside an overlap. */
export type SigningSecrets = { secret: string; previousSecret: string | null }

/** A new signing secret: 256 bits as 64 hex characters (contract §Merchant). */
export function generateWebhookSecret(): string {
  return randomBytes(32).toString('hex')
}

/** The place that a merchant's signing secret is sealed to; it can't be opened elsewhere. */
export function webhookSecretContext(merchantId: string): SealContext {
  return { table: 'merchants', column: 'webhook_signing_secret', rowId: merchantId, merchantId }
}

/** The place that the previous secret is sealed to. */
export function previousSecretContext(merchantId: string): SealContext {
  return { table: 'merchants', column: 'webhook_secret_previous', rowId: merchantId, merchantId }
}

/**
 * The merchant's signing secret in plain text: for signing, and for showing it to its owner.
 * @throws {DomainError} MERCHANT_NOT_FOUND
 */
export async function openWebhookSecret(app: Pick<App, 'pool' | 'sealer'>, merchantId: string): Promise<string> {
  return openNewest(app.sealer, foundSecrets(await findSecrets(app.pool, merchantId)))
}

/** The newest secret in plain text. */
export function openNewest(sealer: Sealer, state: Pick<SecretState, 'merchant_id' | 'webhook_signing_secret'>): string {
  return sealer.open(state.webhook_signing_secret, webhookSecretContext(state.merchant_id))
}

/** @throws {DomainError} MERCHANT_NOT_FOUND */
export function foundSecrets(state: SecretState | null): SecretState {
  if (state === null) throw new DomainError('MERCHANT_NOT_FOUND', 'merchant not found')
  return state
}
