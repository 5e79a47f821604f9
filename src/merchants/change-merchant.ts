import type { CommonQueryMethods } from 'slonik'
import type { App } from '../app.ts'
import type { Actor } from '../audit/record.ts'
import { recordAction } from '../audit/record-action.ts'
import { listActionRows } from '../audit/sql.ts'
import { DomainError } from '../lib/errors.ts'
import { checkExpectedValues, matchesExpectedValues } from '../lib/expected-values.ts'
import { isUuid } from '../lib/ids.ts'
import { findMerchantRow, lockMerchantRow } from './admin-sql.ts'
import type { MerchantRecord } from './record.ts'

/** What an operator does to a merchant: who, to whom, and why; perhaps only where it still is as the operator has seen it. */
export type MerchantAction = {
  id: string
  reason?: string | undefined
  expected?: Partial<MerchantRecord> | undefined
  actor: Actor
}

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
 * @throws {DomainError} MERCHANT_NOT_FOUND, CHANGED_MEANWHILE where it is not as expected, and what `plan` throws
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

/** Whether the last thing of this kind was done by the same one for the same reason: the answer to it may have got lost. */
async function isRepeat(
  tx: CommonQueryMethods,
  { id, reason, actor }: MerchantAction,
  action: string,
): Promise<boolean> {
  const [last] = await listActionRows(tx, {
    merchantId: id,
    action,
    actor: undefined,
    from: undefined,
    to: undefined,
    beforeOrdinal: undefined,
    limit: 1,
  })
  return last !== undefined && last.actor_id === actor.id && last.reason === (reason ?? null)
}

export function merchantNotFound(): DomainError {
  return new DomainError('MERCHANT_NOT_FOUND', 'there is no such merchant')
}

function throwNotFound(): never {
  throw merchantNotFound()
}

function pick(merchant: MerchantRecord, members: readonly (keyof MerchantRecord)[]): Record<string, unknown> {
  return Object.fromEntries(members.map((name) => [name, merchant[name]]))
}
