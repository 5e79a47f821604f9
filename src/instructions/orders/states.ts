import type { Transition } from '../../lib/machine.ts'
import type { OrderStatus, OrderStatusIso } from '../../wire/orders.ts'

export type OrderTrigger = 'order' | 'execution' | 'booking' | 'rejection' | 'withdrawal'
export type OrderTransition = Transition<OrderStatus, OrderTrigger>

/** The transitions of a payment of the Open Banking API (decision 1). */
export const ORDER_TRANSITIONS = [
  { from: null, on: 'order', to: 'Pending' },
  { from: 'Pending', on: 'execution', to: 'AcceptedSettlementInProcess' },
  { from: 'Pending', on: 'withdrawal', to: 'Rejected' },
  { from: 'AcceptedSettlementInProcess', on: 'booking', to: 'AcceptedSettlementCompleted' },
  { from: 'AcceptedSettlementInProcess', on: 'rejection', to: 'Rejected' },
] as const satisfies readonly OrderTransition[]

/** The same states in ISO 20022 (ExternalPaymentTransactionStatus1Code; decision 1). */
export const ORDER_STATUS_ISO: Readonly<Record<OrderStatus, OrderStatusIso>> = {
  Pending: 'PDNG',
  AcceptedSettlementInProcess: 'ACSP',
  AcceptedSettlementCompleted: 'ACSC',
  AcceptedCreditSettlementCompleted: 'ACCC',
  AcceptedWithoutPosting: 'ACWP',
  Rejected: 'RJCT',
}
