import { z } from 'zod'
import { PaymentRecord } from '../payments/record.ts'
import type { PaymentWithHistory } from '../payments/record.ts'
import type { ListedRefund } from '../payments/refunds/record.ts'

/** A payment with its merchant. */
export const PaymentOfMerchant = PaymentRecord.extend({ realm_slug: z.string().nullable(), trading_name: z.string() })
export type PaymentOfMerchant = z.infer<typeof PaymentOfMerchant>

/** A payment with its history and refunds, as operators see it. */
export type WholePaymentOfMerchant = PaymentWithHistory &
  Pick<PaymentOfMerchant, 'realm_slug' | 'trading_name'> & { refunds: readonly ListedRefund[] }
