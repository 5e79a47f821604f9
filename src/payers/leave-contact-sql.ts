import type { CommonQueryMethods } from 'slonik'
import { z } from 'zod'
import { sql } from '../db/sql.ts'
import type { Contact } from './record.ts'

const Left = z.object({ outcome: z.enum(['KEPT', 'KNOWN', 'NOT_TAKEN']) })

/** Writes a contact on the consent of a payment; KNOWN where that has one of either kind, NOT_TAKEN where none is taken. */
export async function leaveContactOn(
  db: CommonQueryMethods,
  { merchantId, paymentId, contact }: { merchantId: string; paymentId: string; contact: Contact },
): Promise<z.infer<typeof Left>['outcome']> {
  const { type, value } = contact
  const { outcome } = await db.one(sql.type(Left)`
    select leave_payer_contact(
      ${merchantId}::uuid, ${paymentId}::uuid, ${type === 'EMAIL' ? value : null}::text, ${type === 'PHONE' ? value : null}::text
    ) as outcome
  `)
  return outcome
}
