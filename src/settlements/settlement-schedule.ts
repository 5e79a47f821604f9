import type { App } from '../app.ts'
import { findMerchantRow } from '../merchants/admin-sql.ts'
import { changeMerchant, merchantNotFound } from '../merchants/change-merchant.ts'
import type { MerchantAction } from '../merchants/change-merchant.ts'
import type { MerchantRecord } from '../merchants/record.ts'
import type { SettlementSchedule } from '../wire/admin.ts'
import type { MerchantSettlementSchedule } from '../wire/settlements.ts'
import { updateSchedule } from './sql.ts'

/** When a merchant's periods end. @throws {DomainError} MERCHANT_NOT_FOUND */
export async function getSettlementSchedule(
  app: Pick<App, 'pool'>,
  merchantId: string,
): Promise<MerchantSettlementSchedule> {
  const merchant = await findMerchantRow(app.pool, merchantId)
  if (merchant === null) throw merchantNotFound()
  return scheduleOf(merchant)
}

/**
 * Sets when a merchant's periods end, also the open one. Setting the current schedule again changes nothing.
 * @throws {DomainError} MERCHANT_NOT_FOUND, CHANGED_MEANWHILE
 */
export async function setSettlementSchedule(
  app: Pick<App, 'pool' | 'ids'>,
  { schedule, ...action }: MerchantAction & { schedule: SettlementSchedule },
): Promise<MerchantSettlementSchedule> {
  const changed = await changeMerchant(app, action, {
    action: 'merchant.settlement_schedule',
    members: ['settlement_schedule'],
    plan: ({ id, settlement_schedule: current }) =>
      current === schedule ? undefined : (tx) => updateSchedule(tx, { id, schedule }),
  })
  return scheduleOf(changed)
}

function scheduleOf({ id, settlement_schedule }: MerchantRecord): MerchantSettlementSchedule {
  return { merchant_id: id, settlement_schedule }
}
