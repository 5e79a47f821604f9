import type { App } from '../app.ts'
import { keyOfCursor, pageOf } from '../lib/cursor.ts'
import { isUuid } from '../lib/ids.ts'
import type { Permission } from '../lib/permissions.ts'
import { InboxKind } from '../wire/console.ts'
import type { InboxItem } from '../wire/console.ts'
import { findDisputeFacts } from './inbox-disputes-sql.ts'
import type { DisputeFacts } from './inbox-disputes-sql.ts'
import { listInboxRows } from './inbox-sql.ts'
import type { InboxPlace, InboxRecord } from './inbox-sql.ts'
import { wordsOf } from './inbox-text.ts'

/** What a kind asks of its reader beyond the inbox itself: what one may not see is not told either. */
const NEEDS: Partial<Record<InboxKind, Permission>> = {
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
 * A page of what waits for a person, the most urgent first.
 * @throws {DomainError} VALIDATION_FAILED at `cursor`
 */
export async function getInbox(
  { pool, config }: Pick<App, 'pool' | 'config'>,
  { merchantId, can, limit, cursor }: InboxInput,
): Promise<{ data: InboxItem[]; has_more: boolean; next_cursor: string | null }> {
  const after = cursor === undefined ? undefined : placeOf(keyOfCursor(cursor, isPlace))
  const kinds = InboxKind.options.filter((kind) => {
    const needed = NEEDS[kind]
    return merchantId === undefined || needed === undefined || can(needed)
  })
  const { holidays } = config
  const found = await listInboxRows(pool, { merchantId, kinds, after, limit: limit + 1, holidays })
  const { rows, nextCursor } = pageOf(found, limit, ({ due_us: us, kind, id }) => [us, kind, id].join(SEPARATOR))
  const side = merchantId === undefined ? 'operator' : 'merchant'
  const ids = rows.flatMap(({ kind, id }) => (kind.startsWith('dispute_') ? [id] : []))
  const facts = await findDisputeFacts(pool, ids)
  const data = rows.map((row) => present(row, side, facts.get(row.id)))
  return { data, has_more: nextCursor !== null, next_cursor: nextCursor }
}

function present(row: InboxRecord, side: 'operator' | 'merchant', facts: DisputeFacts | undefined): InboxItem {
  const { due_us: _, ...item } = row
  return { ...item, ...wordsOf(row, side, facts) }
}

const SEPARATOR = '.'

function isPlace(text: string): boolean {
  const { us, kind, id } = placeOf(text)
  return /^\d{1,16}$/.test(us) && InboxKind.safeParse(kind).success && isUuid(id)
}

function placeOf(text: string): InboxPlace {
  const [us = '', kind = '', id = ''] = text.split(SEPARATOR)
  return { us, kind, id }
}
