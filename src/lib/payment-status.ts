import type { HubTexts } from './locales/hub/en.ts'

type Status = keyof HubTexts['status']

/** Whether the payer's money went to the merchant, even if it was refunded later. */
export function hasMovedMoney({ status }: { status: Status }): boolean {
  return status === 'Settled' || status === 'Refunded'
}

/** Whether an amount is greater than 0. */
export function isPositive(amount: string): boolean {
  return /[1-9]/.test(amount)
}

/** A payment's status in the words of the payer's pages. */
export function payerStatusText(
  texts: Pick<HubTexts, 'payments' | 'status'>,
  { status, refunded_amount: refunded }: { status: Status; refunded_amount: string },
): string {
  return status === 'Settled' && isPositive(refunded) ? texts.payments.partly : texts.status[status]
}
