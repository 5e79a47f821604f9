import { z } from 'zod'
import { PaymentRecord } from '../payments/record.ts'

/** A payment, and whose it is. */
export const PaymentOfMerchant = PaymentRecord.extend({ realm_slug: z.string().nullable(), trading_name: z.string() })
export type PaymentOfMerchant = z.infer<typeof PaymentOfMerchant>
