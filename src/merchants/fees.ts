import { z } from 'zod'
import type { App } from '../app.ts'
import { listAudit } from '../audit/list-audit.ts'
import type { OperatorActionRecord } from '../audit/record.ts'
import { isUuid } from '../lib/ids.ts'
import { parseAmount } from '../lib/money.ts'
import type { MerchantFees } from '../wire/fees.ts'
import { findMerchantRow } from './admin-sql.ts'
import { changeMerchant, merchantNotFound } from './change-merchant.ts'
import type { MerchantAction } from './change-merchant.ts'
import type { MerchantRecord } from './record.ts'
import { updateFees } from './settings-sql.ts'

const HISTORY_MAX = 100

/** The fees as recorded in the audit trail, before and after. */
const Fees = z.object({ fee_percentage: z.string(), fee_flat: z.string() })

/**
 * A merchant's fees for new payments, and the last hundred changes, newest first.
 * @throws {DomainError} MERCHANT_NOT_FOUND
 */
export async function getFees(app: Pick<App, 'pool'>, id: string): Promise<MerchantFees> {
  const merchant = isUuid(id) ? await findMerchantRow(app.pool, id) : null
  if (merchant === null) throw merchantNotFound()
  return withHistory(app, merchant)
}

export type FeesChange = MerchantAction & { percentage: string | undefined; flat: string | undefined }

/**
 * Sets a merchant's fees for payments created from now on; existing payments keep their fees. Setting the current fees
 * again changes nothing.
 * @throws {DomainError} MERCHANT_NOT_FOUND, CHANGED_MEANWHILE
 */
export async function setFees(
  app: Pick<App, 'pool' | 'ids'>,
  { percentage, flat, ...action }: FeesChange,
): Promise<MerchantFees> {
  const changed = await changeMerchant(app, action, {
    action: 'merchant.fees',
    members: ['fee_percentage', 'fee_flat'],
    plan: (merchant) => {
      const wanted = { percentage: percentage ?? merchant.fee_percentage, flat: flat ?? merchant.fee_flat }
      const isSame =
        parseAmount(wanted.percentage) === parseAmount(merchant.fee_percentage) &&
        parseAmount(wanted.flat) === parseAmount(merchant.fee_flat)
      return isSame ? undefined : (tx) => updateFees(tx, { id: merchant.id, ...wanted })
    },
  })
  return withHistory(app, changed)
}

async function withHistory(app: Pick<App, 'pool'>, merchant: MerchantRecord): Promise<MerchantFees> {
  const { actions } = await listAudit(app, { merchant_id: merchant.id, action: 'merchant.fees', limit: HISTORY_MAX })
  const { id, fee_percentage, fee_flat } = merchant
  return { merchant_id: id, fee_percentage, fee_flat, history: actions.map((action) => changeOf(action)) }
}

function changeOf({ before, after, actor_name, reason, created_at }: OperatorActionRecord): MerchantFees['history'][0] {
  return { ...Fees.parse(after), changed_at: created_at, changed_by: actor_name, reason, before: Fees.parse(before) }
}
