import type { App } from '../app.ts'
import { isUuid } from '../lib/ids.ts'
import { CURRENCY_DIGITS, parseAmount } from '../lib/money.ts'
import type { MerchantLimits } from '../wire/limits.ts'
import { findMerchantRow } from './admin-sql.ts'
import { changeMerchant, merchantNotFound } from './change-merchant.ts'
import type { MerchantAction } from './change-merchant.ts'
import type { MerchantRecord } from './record.ts'
import { updateLimits } from './settings-sql.ts'

/**
 * A merchant's limits for new payments. The SQL function `create_payments` applies them.
 * @throws {DomainError} MERCHANT_NOT_FOUND
 */
export async function getLimits(app: Pick<App, 'pool'>, id: string): Promise<MerchantLimits> {
  const merchant = isUuid(id) ? await findMerchantRow(app.pool, id) : null
  if (merchant === null) throw merchantNotFound()
  return limitsOf(merchant)
}

export type LimitsChange = MerchantAction & { currencies: readonly string[] | undefined; max: string | undefined }

/**
 * Sets the limits of payments created from now on; existing payments and their refunds go on. Setting the current limits
 * again changes nothing.
 * @throws {DomainError} MERCHANT_NOT_FOUND, CHANGED_MEANWHILE
 */
export async function setLimits(
  app: Pick<App, 'pool' | 'ids'>,
  { currencies, max, ...action }: LimitsChange,
): Promise<MerchantLimits> {
  const changed = await changeMerchant(app, action, {
    action: 'merchant.limits',
    members: ['currencies', 'payment_amount_max'],
    plan: (merchant) => {
      const wanted = { currencies: inOrder(currencies ?? merchant.currencies), max: max ?? merchant.payment_amount_max }
      const isSame =
        String(wanted.currencies) === String(inOrder(merchant.currencies)) &&
        parseAmount(wanted.max) === parseAmount(merchant.payment_amount_max)
      return isSame ? undefined : (tx) => updateLimits(tx, { id: merchant.id, ...wanted })
    },
  })
  return limitsOf(changed)
}

/** Each currency once, always in one order, so that equal lists are the same list. */
function inOrder(currencies: readonly string[]): string[] {
  return Object.keys(CURRENCY_DIGITS).filter((currency) => currencies.includes(currency))
}

function limitsOf({ id, currencies, payment_amount_max }: MerchantRecord): MerchantLimits {
  return { merchant_id: id, currencies, payment_amount_max }
}
