import type { CommonQueryMethods } from 'slonik'
import type { App } from '../app.ts'
import type { Actor } from '../audit/record.ts'
import { recordAction } from '../audit/record-action.ts'
import { DomainError } from '../lib/errors.ts'
import { isUuid } from '../lib/ids.ts'
import { findMerchantRow, lockMerchantRow } from './admin-sql.ts'
import type { MerchantRecord } from './record.ts'

/** What an operator does to a merchant: who, to whom, and why. */
export type MerchantAction = { id: string; reason?: string | undefined; actor: Actor }

export type MerchantChange = {
  /** The name in the audit trail, such as `merchant.kyb`. */
  action: string
  /** The members that it is about, as the audit trail keeps them before and after. */
  members: readonly (keyof MerchantRecord)[]
  /** Writes the change; undefined where the merchant is as it should be. @throws {DomainError} */
  plan(merchant: MerchantRecord): ((tx: CommonQueryMethods) => Promise<void>) | undefined
}

/**
 * Changes a merchant and writes it into the audit trail, in one transaction that no other change of this merchant runs
 * beside. What is so already is left alone, and nothing is recorded.
 * @throws {DomainError} MERCHANT_NOT_FOUND, and what `plan` throws
 */
export async function changeMerchant(
  app: Pick<App, 'pool' | 'ids'>,
  { id, reason, actor }: MerchantAction,
  { action, members, plan }: MerchantChange,
): Promise<MerchantRecord> {
  if (!isUuid(id)) throw merchantNotFound()
  return app.pool.transaction(async (tx) => {
    const before = (await lockMerchantRow(tx, id)) ?? refuseUnknown()
    const write = plan(before)
    if (write === undefined) return before
    await write(tx)
    const after = (await findMerchantRow(tx, id)) ?? refuseUnknown()
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

export function merchantNotFound(): DomainError {
  return new DomainError('MERCHANT_NOT_FOUND', 'there is no such merchant')
}

function refuseUnknown(): never {
  throw merchantNotFound()
}

function pick(merchant: MerchantRecord, members: readonly (keyof MerchantRecord)[]): Record<string, unknown> {
  return Object.fromEntries(members.map((name) => [name, merchant[name]]))
}
