import t from 'tap'
import { DISPUTE_TRANSITIONS } from '../../src/disputes/states.ts'
import { deliveryStanding } from '../../src/explain/delivery-standing.ts'
import { deliverySteps } from '../../src/explain/delivery-steps.ts'
import { disputeStanding } from '../../src/explain/dispute-standing.ts'
import { disputeSteps } from '../../src/explain/dispute-steps.ts'
import { merchantStanding } from '../../src/explain/merchant-standing.ts'
import { merchantSteps } from '../../src/explain/merchant-steps.ts'
import { paymentStanding } from '../../src/explain/payment-standing.ts'
import { paymentSteps } from '../../src/explain/payment-steps.ts'
import type { ToldDelivery, ToldDispute, ToldMerchant, ToldPayment } from '../../src/explain/record.ts'
import type { Viewer } from '../../src/explain/viewer.ts'
import type { Transition } from '../../src/lib/machine.ts'
import { KYB_TRANSITIONS } from '../../src/merchants/states.ts'
import { PAYMENT_TRANSITIONS, isPossibleMove } from '../../src/payments/states.ts'
import { DELIVERY_TRANSITIONS } from '../../src/webhooks/states.ts'
import { KybStatus } from '../../src/wire/admin.ts'
import { DisputeStatus } from '../../src/wire/disputes.ts'
import type { NextStep } from '../../src/wire/explain.ts'
import { PaymentStatus } from '../../src/wire/payments.ts'
import { DeliveryStatus } from '../../src/wire/webhooks.ts'

const NOW = '2026-11-21T09:30:00.000Z'
const LATER = '2026-11-21T09:44:00.000Z'
const ID = '01a1fd03-f879-7eb7-872f-a2b4358c4f6d'

const merchantsAdmin: Viewer = { side: 'merchant', merchantId: ID, can: () => true }
const owner: Viewer = { side: 'operator', merchantId: undefined, can: () => true }
const support: Viewer = {
  side: 'operator',
  merchantId: undefined,
  can: (permission) => permission === 'read merchants',
}
const finance: Viewer = { side: 'merchant', merchantId: ID, can: (permission) => permission === 'refund payments' }
const EVERYBODY = [merchantsAdmin, owner, support, finance]

function rowsOf(table: readonly Transition<string>[], from: string): string[] {
  return table.filter((row) => row.from === from).map(({ on, to }) => `${on} -> ${to}`)
}

function named(steps: readonly NextStep[]): string[] {
  return steps.map(({ on, to }) => `${on} -> ${to}`)
}

const payment = (status: PaymentStatus): ToldPayment => ({
  id: ID,
  merchant_id: ID,
  status,
  gross_amount: '50.0000',
  fee_amount: '0.7000',
  net_amount: '49.3000',
  fee_percentage: '0.0100',
  fee_flat: '0.20',
  refunded_amount: status === 'Refunded' ? '50.0000' : '0.0000',
  refund_reserved_amount: '0.0000',
  currency: 'GBP',
  failure_code: status === 'Failed' ? 'INSUFFICIENT_FUNDS' : null,
  failure_source: status === 'Failed' ? 'ASPSP_REJECTION' : null,
  bank_connector: 'mock',
  under_mandate: false,
  debtor_bank_id: null,
  consent_status: 'AWAITING_AUTHORISATION',
  expires_at: LATER,
  settle_at: LATER,
  created_at: NOW,
  disputable_until: LATER,
  now: NOW,
})

t.test('every status of a payment has its standing, and its next steps are the rows of its table', async (t) => {
  const told = new Set<string>()
  for (const under_mandate of [false, true]) {
    const table = PAYMENT_TRANSITIONS.filter(({ on }) => isPossibleMove({ underMandate: under_mandate }, on))
    for (const status of PaymentStatus.options) {
      const facts = { payment: { ...payment(status), under_mandate }, refunds: [], disputes: [] }
      t.match(paymentStanding(facts), /^[a-z].{20,}\.$/, status)
      for (const viewer of EVERYBODY) t.same(named(paymentSteps(facts, viewer)), rowsOf(table, status))
      for (const step of named(paymentSteps(facts, owner))) told.add(`${status} ${step}`)
      t.same(
        paymentSteps(facts, owner).map(({ webhook }) => webhook),
        table.filter(({ from }) => from === status).map(({ webhook }) => webhook),
        'and each says which webhook tells of it',
      )
    }
  }
  t.equal(told.size, PAYMENT_TRANSITIONS.filter(({ from }) => from !== null).length, 'the two kinds have all of them')
  t.match(
    paymentStanding({ payment: payment('AwaitingAuthorisation'), refunds: [], disputes: [] }),
    'until 2026-11-21 09:44:00Z, 14 minutes left',
  )
})

const dispute = (status: DisputeStatus): ToldDispute => ({
  id: ID,
  merchant_id: ID,
  payment_id: ID,
  status,
  opened_by: 'PAYER',
  reason: 'OTHER',
  evidence_due_at: LATER,
  has_evidence: false,
  assignee: null,
  was_escalated: false,
  refund_id: null,
  created_at: NOW,
  resolved_at: null,
  gross_amount: '50.0000',
  refunded_amount: '0.0000',
  refund_reserved_amount: '0.0000',
  currency: 'GBP',
  now: NOW,
})

t.test('every status of a dispute has its standing, and its next steps are the rows of its table', async (t) => {
  for (const status of DisputeStatus.options) {
    for (const viewer of EVERYBODY) {
      t.match(disputeStanding({ dispute: dispute(status), refund: null, viewer }), /^[a-z].{20,}\.$/, status)
      t.same(named(disputeSteps(dispute(status), viewer)), rowsOf(DISPUTE_TRANSITIONS, status))
    }
  }
  const resolutions = (viewer: Viewer): (string | null)[] =>
    disputeSteps(dispute('ESCALATED'), viewer).map(({ how }) => how)
  const ops: Viewer = { ...owner, can: (permission) => permission !== 'administer platform' }
  t.same(resolutions(ops), [null, null], 'what is escalated an OWNER alone resolves')
  t.match(resolutions(owner), [/^svc disputes resolve .* --favour merchant/, /--favour payer/])
})

const delivery = (status: DeliveryStatus, attempts: number): ToldDelivery => ({
  id: ID,
  merchant_id: ID,
  payment_id: null,
  event_id: 'evt_1',
  event_type: 'payment.settled',
  status,
  attempt_count: attempts,
  last_error: 'http_500',
  next_retry_at: LATER,
  delivered_at: null,
  created_at: NOW,
  is_test: false,
  is_leased: false,
  waits_for: null,
  has_endpoint: true,
  is_paused: false,
  now: NOW,
})

t.test(
  'every status of a delivery has its standing; of its rows those are told that can come at this attempt',
  async (t) => {
    const ATTEMPTS: Record<DeliveryStatus, number[]> = {
      PENDING: [0],
      FAILED: [1, 2, 3, 4, 5],
      DELIVERED: [1, 6],
      DEAD: [6],
    }
    for (const status of DeliveryStatus.options) {
      const told = ATTEMPTS[status].flatMap((attempts) => named(deliverySteps(delivery(status, attempts), owner)))
      t.same([...new Set(told)], rowsOf(DELIVERY_TRANSITIONS, status), `${status}: over all attempts every row`)
      for (const attempts of ATTEMPTS[status]) t.match(deliveryStanding(delivery(status, attempts)), /^[a-z].{10,}\.$/)
    }
    t.same(named(deliverySteps(delivery('FAILED', 4), owner)), ['delivered -> DELIVERED', 'failed -> FAILED'])
    t.same(named(deliverySteps(delivery('FAILED', 5), owner)), [
      'delivered -> DELIVERED',
      'failed for the last time -> DEAD',
    ])
    t.equal(
      deliveryStanding(delivery('FAILED', 3)),
      'attempt 3 of 6 failed (answered 500): attempt 4 is due at 2026-11-21 09:44:00Z, 14 minutes left.',
    )
    t.match(deliveryStanding({ ...delivery('PENDING', 0), is_leased: true }), 'being sent at this moment')
    t.match(
      deliveryStanding({ ...delivery('PENDING', 0), waits_for: 'payment.initiated' }),
      'the earlier payment.initiated',
    )
  },
)

const merchant = (kyb_status: KybStatus): ToldMerchant => ({
  id: ID,
  trading_name: 'Acme',
  realm_slug: null,
  kyb_status,
  is_active: true,
  payout_held: false,
  payout_held_at: null,
  has_endpoint: true,
  is_paused: false,
  created_at: NOW,
  dead_deliveries: 2,
  open_disputes: 1,
  now: NOW,
})

t.test('every KYB status has its standing, and its next steps are the rows of its table', async (t) => {
  for (const status of KybStatus.options) {
    t.match(
      merchantStanding({ merchant: merchant(status), wasRefused: false, seesWebhooks: true }),
      /^[a-z].*; 2 webhooks DEAD; 1 open dispute\.$/,
    )
    for (const viewer of EVERYBODY)
      t.same(named(merchantSteps(merchant(status), viewer)), rowsOf(KYB_TRANSITIONS, status))
    t.ok(
      merchantSteps(merchant(status), owner).every(({ how }) => how?.includes(ID)),
      'the id where there is no realm',
    )
    t.ok(merchantSteps(merchant(status), support).every(({ how }) => how === null))
    t.ok(merchantSteps(merchant(status), merchantsAdmin).every(({ how }) => how === null))
  }
})

t.test('nobody is told a command that is not theirs to type', async (t) => {
  const commands = (viewer: Viewer): string[] =>
    [
      ...PaymentStatus.options.flatMap((status) =>
        paymentSteps({ payment: payment(status), refunds: [], disputes: [] }, viewer),
      ),
      ...DisputeStatus.options.flatMap((status) => disputeSteps(dispute(status), viewer)),
      ...DeliveryStatus.options.flatMap((status) => deliverySteps(delivery(status, 6), viewer)),
    ].flatMap(({ how }) => (how === null ? [] : [how.split(' ').slice(0, 4).join(' ')]))
  t.same(commands(support), [])
  t.same(
    [...new Set(commands(finance).map((how) => how.replace(` ${ID}`, '')))],
    ['svc payments refund', 'svc portal disputes evidence', 'svc portal disputes accept'],
  )
  t.notOk(commands(merchantsAdmin).some((how) => /^svc (disputes|outbox|kyb)/.test(how)))
  t.notOk(commands(owner).some((how) => /^svc (payments|portal|webhooks)/.test(how)))
})
