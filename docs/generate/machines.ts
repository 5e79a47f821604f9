import { CONSENT_TRANSITIONS } from '../../src/consents/states.ts'
import { DISPUTE_TRANSITIONS } from '../../src/disputes/states.ts'
import { ORDER_TRANSITIONS } from '../../src/instructions/orders/states.ts'
import { RECURRING_TRANSITIONS } from '../../src/instructions/recurring/states.ts'
import { PAYMENT_REQUEST_TRANSITIONS } from '../../src/instructions/requests/states.ts'
import type { Transition } from '../../src/lib/machine.ts'
import { KYB_TRANSITIONS } from '../../src/merchants/states.ts'
import { PAYMENT_TRANSITIONS } from '../../src/payments/states.ts'
import { DELIVERY_TRANSITIONS } from '../../src/webhooks/states.ts'

/** Every state machine of the service, in the order of the page. */
export const MACHINES: readonly { title: string; rows: readonly Transition<string>[] }[] = [
  { title: 'Payment', rows: PAYMENT_TRANSITIONS },
  { title: 'Payment consent', rows: CONSENT_TRANSITIONS },
  { title: 'Dispute', rows: DISPUTE_TRANSITIONS },
  { title: 'Webhook delivery', rows: DELIVERY_TRANSITIONS },
  { title: 'KYB', rows: KYB_TRANSITIONS },
  { title: 'Open Banking payment', rows: ORDER_TRANSITIONS },
  { title: 'Recurring payment', rows: RECURRING_TRANSITIONS },
  { title: 'Request to pay, offer to pay', rows: PAYMENT_REQUEST_TRANSITIONS },
]
