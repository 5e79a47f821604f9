import type { CommonQueryMethods, DatabaseTransactionConnection } from 'slonik'
import type { App } from '../app.ts'
import type { Actor } from '../audit/record.ts'
import { recordAction } from '../audit/record-action.ts'
import { findLastAction } from '../audit/sql.ts'
import { DomainError } from '../lib/errors.ts'
import { checkExpectedValues, matchesExpectedValues } from '../lib/expected-values.ts'
import { isUuid } from '../lib/ids.ts'
import { findMerchantRow, lockMerchantRow } from './admin-sql.ts'
import type { MerchantRecord } from './record.ts'

/** An operator's action on a merchant. With `expected`, it only applies if the merchant still has these values. */
export type MerchantAction = {
  id: string
  reason?: string | undefined
  expected?: Partial<MerchantRecord> | undefined
  actor: Actor
}

export type MerchantChange = {
  /** The action's name in the audit trail, such as `merchant.kyb`. */
  action: string
  /** The changed members, recorded in the audit trail before and after. */
  members: readonly (keyof MerchantRecord)[]
  /** Returns the write; undefined if nothing has to change. @throws {DomainError} */
  plan(merchant: MerchantRecord): ((tx: DatabaseTransactionConnection) => Promise<void>) | undefined
}

/**
 * Changes a merchant and records it in the audit trail, in one transaction under the merchant's lock. If nothing
 * changes, nothing is recorded.
 * @throws {DomainError} MERCHANT_NOT_FOUND, CHANGED_MEANWHILE if it is not as expected, and the errors of `plan`
 */
export async function changeMerchant(
  app: Pick<App, 'pool' | 'ids'>,
  asked: MerchantAction,
  { action, members, plan }: MerchantChange,
): Promise<MerchantRecord> {
  const { id, reason, actor, expected } = asked
  if (!isUuid(id)) throw merchantNotFound()
  return app.pool.transaction(async (tx) => {
    const before = (await lockMerchantRow(tx, id)) ?? throwNotFound()
    if (!matchesExpectedValues(expected, before)) {
      if (plan(before) === undefined && (await isRepeat(tx, asked, action))) return before
      checkExpectedValues(expected, before)
    }
    const write = plan(before)
    if (write === undefined) return before
    await write(tx)
    const after = (await findMerchantRow(tx, id)) ?? throwNotFound()
    await recordAction(app, tx, {
      actor,
      action,
      merchantId: id,
      subjectId: id,
      reason,
      before: pick(before, members),
      after: pick(after, members),
    })
    return after
  })
}

/**
 * Whether the last action of this kind had the same actor and reason: then this is probably a retry after a lost
 * response.
 */
async function isRepeat(
  tx: CommonQueryMethods,
  { id, reason, actor }: MerchantAction,
  action: string,
): Promise<boolean> {
  const last = await findLastAction(tx, { merchantId: id, action })
  return last !== null && last.actor_id === actor.id && last.reason === (reason ?? null)
}

export function merchantNotFound(): DomainError {
  return new DomainError('MERCHANT_NOT_FOUND', 'merchant not found')
}

function throwNotFound(): never {
  throw merchantNotFound()
}

function pick(merchant: MerchantRecord, members: readonly (keyof MerchantRecord)[]): Record<string, unknown> {
  return Object.fromEntries(members.map((name) => [name, merchant[name]]))
}
