import type { CommonQueryMethods } from 'slonik'
import type { Ids } from '../lib/ids.ts'
import type { Actor } from './record.ts'
import { insertAction } from './sql.ts'

export type Action = {
  actor: Actor
  /** `<thing>.<verb>` in lower case, such as `merchant.kyb`. */
  action: string
  /** The merchant concerned; null for actions on the platform itself. */
  merchantId: string | null
  /** The id of the row that was changed. */
  subjectId: string
  reason?: string | undefined
  /** The members that changed, without secrets. */
  before?: Readonly<Record<string, unknown>> | undefined
  after?: Readonly<Record<string, unknown>> | undefined
}

/**
 * Writes an operator's action into the audit trail. Called in the transaction of the change itself, so that neither is
 * committed without the other.
 */
export function recordAction(app: { ids: Ids }, tx: CommonQueryMethods, action: Action): Promise<void> {
  const { actor, before, after } = action
  return insertAction(tx, {
    id: app.ids.uuid(),
    actorId: actor.id,
    actorName: actor.name,
    actorRole: actor.role,
    action: action.action,
    merchantId: action.merchantId,
    subjectId: action.subjectId,
    reason: action.reason ?? null,
    before: before === undefined ? null : JSON.stringify(before),
    after: after === undefined ? null : JSON.stringify(after),
  })
}
