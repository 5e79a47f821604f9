import { failureOf } from '../lib/failure-codes.ts'
import type { EventType } from './webhook-events.ts'

type EventData = Readonly<Record<string, unknown>>

/** The values of a sample event that are the merchant's own, with the current time. */
export type Sample = {
  merchantId: string
  /** The ids of a payment and its related records, which do not exist. */
  paymentId: string
  consentId: string
  refundId: string
  disputeId: string
  payoutId: string
  bankAccountId: string
  endToEndId: string
  /** ISO 8601, by the database's clock. */
  now: string
  /** How long a merchant has to submit evidence. */
  evidenceSeconds: number
}

const GROSS = '50.00'
const CURRENCY = 'GBP'

type Change = {
  status: string
  previousStatus: string | null
  sequence: number
  failure?: EventData
  refunded?: string
}

/** The status of the payment in each of its events (contract §Webhook events; decision 36). */
const CHANGES: Readonly<Record<Extract<EventType, `payment.${string}` | `refund.${string}`>, Change>> = {
  'payment.initiated': { status: 'AWAITING_AUTHORISATION', previousStatus: null, sequence: 1 },
  'payment.authorized': { status: 'AUTHORISED', previousStatus: 'AWAITING_AUTHORISATION', sequence: 2 },
  'payment.settled': { status: 'SETTLED', previousStatus: 'AUTHORISED', sequence: 3 },
  'payment.failed': {
    status: 'FAILED',
    previousStatus: 'AUTHORISED',
    sequence: 3,
    failure: failure('INSUFFICIENT_FUNDS'),
  },
  'payment.refunded': { status: 'REFUNDED', previousStatus: 'SETTLED', sequence: 4, refunded: GROSS },
  'payment.partially_refunded': { status: 'SETTLED', previousStatus: 'SETTLED', sequence: 4, refunded: '10.00' },
  'refund.failed': {
    status: 'SETTLED',
    previousStatus: 'SETTLED',
    sequence: 4,
    refunded: '0.00',
    failure: failure('ACCOUNT_CLOSED'),
  },
}

type Dispute = { status: string; sequence: number; resolution?: string }

const DISPUTES: Readonly<Record<Extract<EventType, `dispute.${string}`>, Dispute>> = {
  'dispute.opened': { status: 'OPEN', sequence: 4 },
  'dispute.escalated': { status: 'ESCALATED', sequence: 5 },
  'dispute.resolved': {
    status: 'RESOLVED_MERCHANT_FAVOUR',
    sequence: 5,
    resolution: 'The delivery was shown to have arrived.',
  },
}

type Payout = { status: string; previousStatus: string | null; sequence: number; failure?: EventData }

const PAYOUTS: Readonly<Record<Extract<EventType, `payout.${string}`>, Payout>> = {
  'payout.created': { status: 'CREATED', previousStatus: null, sequence: 1 },
  'payout.paid': { status: 'PAID', previousStatus: 'SENT', sequence: 2 },
  'payout.failed': { status: 'FAILED', previousStatus: 'SENT', sequence: 2, failure: failure('BANK_ERROR') },
  'payout.returned': {
    status: 'RETURNED',
    previousStatus: 'PAID',
    sequence: 3,
    failure: failure('INVALID_CREDITOR_ACCOUNT'),
  },
}

/** The `data` of a sample event: every member of a real one, and `test` (decisions 35 and 36). */
export function sampleData(eventType: EventType, sample: Sample): EventData {
  switch (eventType) {
    case 'dispute.opened':
    case 'dispute.escalated':
    case 'dispute.resolved':
      return disputeData(DISPUTES[eventType], sample)
    case 'consent.revoked':
      return consentData(sample)
    case 'payout.created':
    case 'payout.paid':
    case 'payout.failed':
    case 'payout.returned':
      return payoutData(PAYOUTS[eventType], sample)
    default:
      return paymentData(CHANGES[eventType], sample)
  }
}

function paymentData(change: Change, { merchantId, paymentId, consentId, refundId, endToEndId }: Sample): EventData {
  const { refunded } = change
  return {
    object: 'transaction',
    id: paymentId,
    endToEndId,
    consentId,
    merchantId,
    financials: { grossAmount: GROSS, feeAmount: '0.70', netAmount: '49.30', currency: CURRENCY },
    status: change.status,
    previousStatus: change.previousStatus,
    bankDetails: { providerId: 'mock' },
    failure: change.failure ?? null,
    sequence: change.sequence,
    ...(refunded === undefined
      ? {}
      : { refund: { id: refundId, amount: refunded === '0.00' ? '10.00' : refunded, refundedTotal: refunded } }),
    test: true,
  }
}

function disputeData({ status, sequence, resolution }: Dispute, sample: Sample): EventData {
  const dueAt = new Date(Date.parse(sample.now) + sample.evidenceSeconds * 1_000).toISOString()
  return {
    object: 'dispute',
    id: sample.disputeId,
    paymentId: sample.paymentId,
    endToEndId: sample.endToEndId,
    merchantId: sample.merchantId,
    openedBy: 'PAYER',
    reason: 'ITEM_NOT_RECEIVED',
    status,
    amount: { grossAmount: GROSS, currency: CURRENCY },
    payerStatement: 'The parcel has not arrived.',
    evidenceDueAt: dueAt,
    openedAt: sample.now,
    resolvedAt: resolution === undefined ? null : sample.now,
    resolutionNote: resolution ?? null,
    refunded: false,
    sequence,
    test: true,
  }
}

function consentData({ consentId, merchantId, paymentId, now }: Sample): EventData {
  const validTo = new Date(now)
  validTo.setUTCFullYear(validTo.getUTCFullYear() + 1)
  return {
    object: 'consent',
    id: consentId,
    merchantId,
    firstPaymentId: paymentId,
    consentType: 'VARIABLE_RECURRING',
    status: 'REVOKED',
    currency: CURRENCY,
    revokedBy: 'PAYER',
    validTo: validTo.toISOString(),
    test: true,
  }
}

function payoutData(payout: Payout, { payoutId, endToEndId, merchantId, bankAccountId }: Sample): EventData {
  return {
    object: 'payout',
    id: payoutId,
    endToEndId,
    merchantId,
    financials: { amount: '49.30', currency: CURRENCY },
    status: payout.status,
    previousStatus: payout.previousStatus,
    bankAccountId,
    bankReference: payout.status === 'PAID' || payout.status === 'RETURNED' ? 'MB0123456789' : null,
    failure: payout.failure ?? null,
    sequence: payout.sequence,
    test: true,
  }
}

function failure(code: Parameters<typeof failureOf>[0]): EventData {
  const { iso_code: isoCode, ...rest } = failureOf(code)
  return { ...rest, isoCode }
}
