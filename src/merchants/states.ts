import type { Transition } from '../lib/machine.ts'

export type KybStatus = 'PENDING' | 'APPROVED' | 'SUSPENDED'

/** The moves of a merchant's KYB status; a platform operator makes each (specification, KYB status; decision 19). */
export const KYB_TRANSITIONS = [
  { from: null, on: 'registration', to: 'PENDING' },
  { from: 'PENDING', on: 'approval', to: 'APPROVED' },
  { from: 'PENDING', on: 'refusal', to: 'SUSPENDED' },
  { from: 'APPROVED', on: 'suspension', to: 'SUSPENDED' },
  { from: 'SUSPENDED', on: 'reinstatement', to: 'APPROVED' },
] as const satisfies readonly Transition<KybStatus>[]
