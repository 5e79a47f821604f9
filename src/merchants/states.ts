import type { Transition } from '../lib/machine.ts'
import type { KybStatus } from '../wire/admin.ts'

export type KybTrigger = 'registration' | 'approval' | 'rejection' | 'suspension' | 'reinstatement'

/** The transitions of a merchant (contract §KYB status; decision 19). A row is the complete rule. */
export const KYB_TRANSITIONS: readonly Transition<KybStatus, KybTrigger>[] = [
  { from: null, on: 'registration', to: 'PENDING' },
  { from: 'PENDING', on: 'approval', to: 'APPROVED' },
  { from: 'PENDING', on: 'rejection', to: 'SUSPENDED' },
  { from: 'APPROVED', on: 'suspension', to: 'SUSPENDED' },
  { from: 'SUSPENDED', on: 'reinstatement', to: 'APPROVED' },
]

/** The transition from one status to another; undefined if there is none. */
export function kybMove(from: KybStatus, to: KybStatus): Transition<KybStatus, KybTrigger> | undefined {
  return KYB_TRANSITIONS.find((row) => row.from === from && row.to === to)
}
