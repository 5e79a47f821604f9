import { DomainError } from '../lib/errors.ts'
import type { KybStatus } from '../wire/admin.ts'
import { updateKyb } from '../merchants/admin-sql.ts'
import type { MerchantAction } from '../merchants/change-merchant.ts'
import type { MerchantRecord } from '../merchants/record.ts'
import { KYB_TRANSITIONS, kybMove } from '../merchants/states.ts'
import { changeStatus } from './change-status.ts'
import type { StatusApp } from './change-status.ts'

/**
 * Approves, rejects, suspends or reinstates a merchant (decision 19). Setting the current status again changes nothing.
 * @throws {DomainError} MERCHANT_NOT_FOUND, KYB_TRANSITION_INVALID, CHANGED_MEANWHILE
 */
export function setKybStatus(
  app: StatusApp,
  { kybStatus: to, ...action }: MerchantAction & { kybStatus: KybStatus },
): Promise<MerchantRecord> {
  return changeStatus(app, action, {
    action: 'merchant.kyb',
    members: ['kyb_status'],
    stopsPayouts: to === 'SUSPENDED',
    plan: ({ kyb_status: from }) => {
      if (from === to) return undefined
      if (kybMove(from, to) === undefined) throw invalidMove(from, to)
      return (tx) => updateKyb(tx, { id: action.id, from, to })
    },
  })
}

function invalidMove(from: KybStatus, to: KybStatus): DomainError {
  const allowed = KYB_TRANSITIONS.filter((row) => row.from === from).map((row) => row.to)
  return new DomainError('KYB_TRANSITION_INVALID', `a merchant cannot change from ${from} to ${to}`, {
    next: `set one of: ${allowed.join(', ')}`,
    current: { kyb_status: from },
  })
}
