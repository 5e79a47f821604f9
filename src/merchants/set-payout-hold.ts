import type { App } from '../app.ts'
import { updateHold } from './admin-sql.ts'
import { changeMerchant } from './change-merchant.ts'
import type { MerchantAction } from './change-merchant.ts'
import type { MerchantRecord } from './record.ts'

/**
 * Holds or releases a merchant's payouts (decision 20). While held, the merchant creates no payments; refunds continue.
 * A release clears time and operator, which the audit trail keeps.
 * @throws {DomainError} MERCHANT_NOT_FOUND, CHANGED_MEANWHILE
 */
export function setPayoutHold(
  app: Pick<App, 'pool' | 'ids'>,
  { payoutHeld, ...action }: MerchantAction & { payoutHeld: boolean },
): Promise<MerchantRecord> {
  return changeMerchant(app, action, {
    action: 'merchant.hold',
    members: ['payout_held', 'payout_held_at', 'payout_held_by'],
    plan: (merchant) => {
      if (merchant.payout_held === payoutHeld) return undefined
      return (tx) => updateHold(tx, { id: action.id, heldBy: payoutHeld ? action.actor.name : null })
    },
  })
}
