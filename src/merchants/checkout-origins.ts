import type { App } from '../app.ts'
import { recordAction } from '../audit/record-action.ts'
import type { Actor } from '../audit/record.ts'
import { DomainError } from '../lib/errors.ts'
import type { FieldError } from '../lib/errors.ts'
import { readWebOrigin } from '../lib/web-origin.ts'
import type { WebOriginRules } from '../lib/web-origin.ts'
import { findSettings, lockSettings, updateOrigins } from './settings-sql.ts'

/**
 * The origins that may embed a merchant's checkout. An empty list means any origin in the sandbox, and none in live
 * mode (decision 26).
 */
export async function getCheckoutOrigins(app: Pick<App, 'pool'>, merchantId: string): Promise<string[]> {
  return (await findSettings(app.pool, merchantId)).checkout_origins
}

/**
 * Replaces the origins that may embed a merchant's checkout, normalised as browsers send them and without duplicates.
 * Setting the current list again changes nothing.
 * @throws {DomainError} VALIDATION_FAILED with every invalid origin
 */
export async function putCheckoutOrigins(
  app: Pick<App, 'pool' | 'ids' | 'config'>,
  { merchantId, actor, origins: given }: { merchantId: string; actor: Actor; origins: readonly string[] },
): Promise<string[]> {
  const origins = readAll(given, { allowLoopbackHttp: app.config.mode === 'sandbox' })
  await app.pool.transaction(async (tx) => {
    const { checkout_origins: before } = await lockSettings(tx, merchantId)
    if (JSON.stringify(before) === JSON.stringify(origins)) return
    await updateOrigins(tx, { merchantId, origins })
    await recordAction(app, tx, {
      actor,
      action: 'checkout_origins.set',
      merchantId,
      subjectId: merchantId,
      before: { origins: before },
      after: { origins },
    })
  })
  return origins
}

function readAll(texts: readonly string[], rules: WebOriginRules): string[] {
  const origins = new Set<string>()
  const errors: FieldError[] = []
  for (const [index, text] of texts.entries()) {
    const read = readWebOrigin(text, rules)
    if ('origin' in read) origins.add(read.origin)
    else errors.push({ path: `origins.${index}`, ...read })
  }
  if (errors.length === 0) return [...origins]
  const message = errors.map(({ path, message }) => `${path}: ${message}`).join('; ')
  throw new DomainError('VALIDATION_FAILED', message, { errors })
}
