import type { CommonQueryMethods } from 'slonik'
import { z } from 'zod'
import { sql } from '../db/sql.ts'
import type { KybStatus } from '../wire/admin.ts'
import { MerchantRecord } from './record.ts'

const columns = sql.fragment`
  m.id, m.client_id, m.legal_name, m.trading_name, m.name, m.kyb_status::text as kyb_status, m.fee_percentage,
  m.fee_flat, m.currencies, money_text(m.payment_amount_max) as payment_amount_max,
  m.settlement_schedule,
  coalesce(m.webhook_url, m.paused_webhook_url) as webhook_url, m.is_active, m.realm_slug, (
    select t.email
    from team_members t
    where t.merchant_id = m.id and t.role = 'ADMIN' and t.is_active
    order by t.created_at, t.id
    limit 1
  ) as admin_email, m.payout_held, m.payout_held_at, m.payout_held_by, m.created_at, m.updated_at
`

export type MerchantFilter = {
  kybStatus?: KybStatus | undefined
  payoutHeld?: boolean | undefined
  isActive?: boolean | undefined
  /** Part of a name or of the realm. */
  search?: string | undefined
  order: 'newest' | 'oldest'
  /** The last merchant of the page before. */
  afterId?: string | undefined
  limit: number
}

/** Merchants by creation time. */
export function listMerchantRows(tx: CommonQueryMethods, filter: MerchantFilter): Promise<readonly MerchantRecord[]> {
  const isNewest = filter.order === 'newest'
  return tx.any(sql.type(MerchantRecord)`
    select ${columns}
    from merchants m
    where ${sql.join(conditionsOf(filter), sql.fragment` and `)}
    order by ${isNewest ? sql.fragment`m.created_at desc, m.id desc` : sql.fragment`m.created_at, m.id`}
    limit ${filter.limit}
  `)
}

function conditionsOf({ kybStatus, payoutHeld, isActive, search, order, afterId }: MerchantFilter) {
  const conditions = [sql.fragment`true`]
  if (kybStatus !== undefined) conditions.push(sql.fragment`m.kyb_status = ${kybStatus}::kyb_status`)
  if (payoutHeld !== undefined) conditions.push(sql.fragment`m.payout_held = ${payoutHeld}`)
  if (isActive !== undefined) conditions.push(sql.fragment`m.is_active = ${isActive}`)
  if (search !== undefined) {
    const pattern = `%${search.replaceAll(/[\\%_]/g, String.raw`\$&`)}%`
    conditions.push(sql.fragment`
      (m.legal_name ilike ${pattern} or m.trading_name ilike ${pattern} or m.realm_slug ilike ${pattern})
    `)
  }
  if (afterId !== undefined) {
    const place = sql.fragment`(select created_at, id from merchants where id = ${afterId})`
    conditions.push(
      order === 'newest'
        ? sql.fragment`(m.created_at, m.id) < ${place}`
        : sql.fragment`(m.created_at, m.id) > ${place}`,
    )
  }
  return conditions
}

export function findMerchantRow(tx: CommonQueryMethods, id: string): Promise<MerchantRecord | null> {
  return tx.maybeOne(sql.type(MerchantRecord)`select ${columns} from merchants m where m.id = ${id}`)
}

/** The merchant, locked against other changes until the transaction ends; payments can still be created. */
export function lockMerchantRow(tx: CommonQueryMethods, id: string): Promise<MerchantRecord | null> {
  return tx.maybeOne(sql.type(MerchantRecord)`
    select ${columns} from merchants m where m.id = ${id} for no key update of m
  `)
}

/** Changes the status if it still is `from`. */
export async function updateKyb(
  tx: CommonQueryMethods,
  { id, from, to }: { id: string; from: KybStatus; to: KybStatus },
): Promise<void> {
  await tx.query(sql.type(z.object({}))`
    update merchants
    set kyb_status = ${to}::kyb_status, updated_at = now()
    where id = ${id} and kyb_status = ${from}::kyb_status
  `)
}

/** Holds a merchant's payouts with the operator's name, or releases them with null. */
export async function updateHold(
  tx: CommonQueryMethods,
  { id, heldBy }: { id: string; heldBy: string | null },
): Promise<void> {
  const isHeld = heldBy !== null
  await tx.query(sql.type(z.object({}))`
    update merchants
    set payout_held = ${isHeld}, payout_held_at = case when ${isHeld} then now() end, payout_held_by = ${heldBy},
      updated_at = now()
    where id = ${id}
  `)
}

export async function updateActive(
  tx: CommonQueryMethods,
  { id, isActive }: { id: string; isActive: boolean },
): Promise<void> {
  await tx.query(sql.type(z.object({}))`
    update merchants set is_active = ${isActive}, updated_at = now() where id = ${id}
  `)
}
