import { updateHold } from '../merchants/admin-sql.ts'
import type { MerchantAction } from '../merchants/change-merchant.ts'
import type { MerchantRecord } from '../merchants/record.ts'
import { changeStatus } from './change-status.ts'
import type { StatusApp } from './change-status.ts'

/**
 * Holds or releases a merchant's payouts (decision 20). While held, the merchant creates no payments; refunds continue.
 * A release clears time and operator, which the audit trail keeps.
 * @throws {DomainError} MERCHANT_NOT_FOUND, CHANGED_MEANWHILE
 */
export function setPayoutHold(
  app: StatusApp,
  { payoutHeld, ...action }: MerchantAction & { payoutHeld: boolean },
): Promise<MerchantRecord> {
  return changeStatus(app, action, {
    action: 'merchant.hold',
    stopsPayouts: payoutHeld,
    members: ['payout_held', 'payout_held_at', 'payout_held_by'],
    plan: (merchant) => {
      if (merchant.payout_held === payoutHeld) return undefined
      return (tx) => updateHold(tx, { id: action.id, heldBy: payoutHeld ? action.actor.name : null })
    },
  })
}
