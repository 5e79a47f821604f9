import type { App } from '../app.ts'
import { readExamined } from '../db/examined-pages.ts'
import { keyOfCursor } from '../lib/cursor.ts'
import { isUuid } from '../lib/ids.ts'
import { paymentNotFound, getPayment } from '../payments/get-payment.ts'
import { listRefundRows } from '../payments/refunds/sql.ts'
import type { PaymentListQuery } from '../wire/payments.ts'
import { findPaymentMerchant, listPaymentRowsOfAll } from './payments-sql.ts'
import type { PaymentOfMerchant, WholePaymentOfMerchant } from './record.ts'

/**
 * A page of the payments of all merchants, the newest first.
 * @throws {DomainError} VALIDATION_FAILED at `cursor`
 */
export async function listAdminPayments(
  app: Pick<App, 'pool'>,
  { merchant_id: merchantId, ...query }: PaymentListQuery & { merchant_id?: string | undefined },
): Promise<{ payments: readonly PaymentOfMerchant[]; nextCursor: string | null }> {
  const after = query.cursor === undefined ? undefined : keyOfCursor(query.cursor, isUuid)
  if (merchantId !== undefined && !isUuid(merchantId)) return { payments: [], nextCursor: null }
  const { rows, nextCursor } = await readExamined({
    limit: query.limit,
    after,
    read: (afterId, limit) => listPaymentRowsOfAll(app.pool, { merchantId, query: { ...query, limit }, afterId }),
    keyOf: ({ id }) => id,
  })
  return { payments: rows, nextCursor }
}

/** How many of a payment's refunds are returned with it. */
const REFUNDS_MAX = 50

/**
 * A payment of any merchant with its history and its refunds.
 * @throws {DomainError} PAYMENT_NOT_FOUND
 */
export async function getAdminPayment(app: App, id: string): Promise<WholePaymentOfMerchant> {
  const merchant = isUuid(id) ? await findPaymentMerchant(app.pool, id) : null
  if (merchant === null) throw paymentNotFound()
  const key = { merchantId: merchant.merchant_id, id }
  const payment = await getPayment(app, key)
  const refunds = await listRefundRows(app.pool, { ...key, limit: REFUNDS_MAX, afterId: undefined })
  return { ...payment, realm_slug: merchant.realm_slug, trading_name: merchant.trading_name, refunds }
}
