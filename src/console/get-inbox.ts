import type { App } from '../app.ts'
import { keyOfCursor, pageOf } from '../lib/cursor.ts'
import { isUuid } from '../lib/ids.ts'
import type { Permission } from '../lib/permissions.ts'
import { InboxKind } from '../wire/console.ts'
import type { InboxItem } from '../wire/console.ts'
import { listInboxDisputes } from './inbox-disputes-sql.ts'
import { listInboxRows } from './inbox-sql.ts'
import type { InboxPosition, InboxRecord } from './inbox-sql.ts'
import { describeItem } from './inbox-text.ts'
import type { InboxView } from './inbox-text.ts'

/** The permission that a kind needs beyond the inbox itself. */
const REQUIRED_PERMISSIONS: Partial<Record<InboxKind, Permission>> = {
  deliveries_dead: 'manage webhooks',
  webhook_endpoint_gone: 'manage webhooks',
  secret_overlap_ending: 'manage signing secret',
}

export type InboxInput = {
  /** Undefined for operators. */
  merchantId: string | undefined
  can(permission: Permission): boolean
  limit: number
  cursor?: string | undefined
}

/**
 * A page of tasks that need action, the most urgent first.
 * @throws {DomainError} VALIDATION_FAILED at `cursor`
 */
export async function getInbox(
  { pool, config }: Pick<App, 'pool' | 'config'>,
  { merchantId, can, limit, cursor }: InboxInput,
): Promise<{ data: InboxItem[]; has_more: boolean; next_cursor: string | null }> {
  const after = cursor === undefined ? undefined : positionOf(keyOfCursor(cursor, isPosition))
  const kinds = InboxKind.options.filter((kind) => {
    const needed = REQUIRED_PERMISSIONS[kind]
    return merchantId === undefined || needed === undefined || can(needed)
  })
  const { holidays } = config
  const found = await listInboxRows(pool, { merchantId, kinds, after, limit: limit + 1, holidays })
  const { rows, nextCursor } = pageOf(found, limit, ({ due_us: us, kind, id }) => [us, kind, id].join(SEPARATOR))
  const side = merchantId === undefined ? 'operator' : 'merchant'
  const canCorrect = can('administer platform')
  const ids = rows.flatMap(({ kind, id }) => (kind.startsWith('dispute_') ? [id] : []))
  const disputes = ids.length === 0 ? [] : await listInboxDisputes(pool, ids)
  const disputesById = new Map(disputes.map((dispute) => [dispute.id, dispute]))
  const data = rows.map((row) => present(row, { side, canCorrect, dispute: disputesById.get(row.id) }))
  return { data, has_more: nextCursor !== null, next_cursor: nextCursor }
}

function present(row: InboxRecord, view: InboxView): InboxItem {
  const { due_us: _, ...item } = row
  return { ...item, ...describeItem(row, view) }
}

const SEPARATOR = '.'

function isPosition(text: string): boolean {
  const { us, kind, id } = positionOf(text)
  return /^\d{1,16}$/.test(us) && InboxKind.safeParse(kind).success && isUuid(id)
}

function positionOf(text: string): InboxPosition {
  const [us = '', kind = '', id = ''] = text.split(SEPARATOR)
  return { us, kind, id }
}
