import t from 'tap'
import { DISPUTE_TRANSITIONS } from '../../src/disputes/states.ts'
import { DELIVERY } from '../../src/explain/delivery.ts'
import { DISPUTE } from '../../src/explain/dispute.ts'
import { MERCHANT } from '../../src/explain/merchant.ts'
import { PAYMENT } from '../../src/explain/payment.ts'
import { describe } from '../../src/explain/steps.ts'
import type { Viewer } from '../../src/explain/viewer.ts'
import type { DeliveryFacts, DisputeFacts, MerchantFacts, PaymentFacts } from '../../src/explain/facts-sql.ts'
import type { Transition } from '../../src/lib/machine.ts'
import { KYB_TRANSITIONS } from '../../src/merchants/states.ts'
import { PAYMENT_TRANSITIONS, isPossibleMove } from '../../src/payments/states.ts'
import { DELIVERY_TRANSITIONS } from '../../src/webhooks/states.ts'
import { KybStatus } from '../../src/wire/admin.ts'
import { DisputeStatus } from '../../src/wire/dispute-fields.ts'
import type { NextStep } from '../../src/wire/explain.ts'
import { PaymentStatus } from '../../src/wire/payments.ts'
import { DeliveryStatus } from '../../src/wire/webhooks.ts'

const NOW = '2026-11-21T09:30:00.000Z'
const LATER = '2026-11-21T09:44:00.000Z'
const ID = '01a1fd03-f879-7eb7-872f-a2b4358c4f6d'
const COMMON = { id: ID, now: NOW }

const merchantsAdmin: Viewer = { side: 'merchant', merchantId: ID, can: () => true }
const owner: Viewer = { side: 'operator', merchantId: undefined, can: () => true }
const support: Viewer = {
  side: 'operator',
  merchantId: undefined,
  can: (permission) => permission === 'read merchants',
}
const finance: Viewer = { side: 'merchant', merchantId: ID, can: (permission) => permission === 'refund payments' }
const VIEWERS = [merchantsAdmin, owner, support, finance]

function rowsOf(table: readonly Transition<string>[], from: string): string[] {
  return table.filter((row) => row.from === from).map(({ on, to }) => `${on} -> ${to}`)
}

function named(steps: readonly NextStep[]): string[] {
  return steps.map(({ on, to }) => `${on} -> ${to}`)
}

const payment = (status: PaymentStatus): PaymentFacts => ({
  merchant_id: ID,
  consent_id: ID,
  status,
  end_to_end_id: 'SVC',
  redirect_uri: null,
  return_url: null,
  order_id: null,
  bank_reference: null,
  consent_type: 'SINGLE_IMMEDIATE',
  debtor_bank_id: null,
  sandbox_scenario: null,
  created_at: NOW,
  updated_at: NOW,
  ended_at: null,
  consent_ended: false,
  money: null,
  state_valid: true,
  gross_amount: '50.0000',
  fee_amount: '0.7000',
  net_amount: '49.3000',
  fee_percentage: '0.0100',
  fee_flat: '0.20',
  refunded_amount: status === 'Refunded' ? '50.0000' : '0.0000',
  refund_reserved_amount: '0.0000',
  currency: 'GBP',
  remaining_amount: status === 'Refunded' ? '0.0000' : '50.0000',
  failure_code: status === 'Failed' ? 'INSUFFICIENT_FUNDS' : null,
  failure_source: status === 'Failed' ? 'ASPSP_REJECTION' : null,
  bank_connector: 'mock',
  under_mandate: false,
  consent_status: 'AWAITING_AUTHORISATION',
  expires_at: LATER,
  settle_at: LATER,
  disputable_until: LATER,
  pending_refund_count: 0,
  next_refund_at: null,
  newest_refund_at: null,
  lacks_refund_account: false,
  dispute_counts: { payer: 0, merchant: 0, platform: 0 },
  open_dispute: null,
  endpoint: 'set',
  has_held_webhooks: false,
  is_unanswered: false,
  ...COMMON,
})

t.test('every payment status has a standing, and its next steps are the rows of the transition table', async (t) => {
  const steps = new Set<string>()
  for (const under_mandate of [false, true]) {
    const table = PAYMENT_TRANSITIONS.filter(({ on }) => isPossibleMove({ underMandate: under_mandate }, on))
    for (const status of PaymentStatus.options) {
      const facts = { ...payment(status), under_mandate }
      t.match(describe(PAYMENT, facts, owner).standing, /^[a-z].{20,}\.$/, status)
      for (const viewer of VIEWERS) t.same(named(describe(PAYMENT, facts, viewer).next), rowsOf(table, status))
      for (const step of named(describe(PAYMENT, facts, owner).next)) steps.add(`${status} ${step}`)
      t.same(
        describe(PAYMENT, facts, owner).next.map(({ webhook }) => webhook),
        table.filter(({ from }) => from === status).map(({ webhook }) => webhook),
        'each with the webhook that announces it',
      )
    }
  }
  t.equal(
    steps.size,
    PAYMENT_TRANSITIONS.filter(({ from }) => from !== null).length,
    'the two kinds of payments cover all transitions',
  )
  t.match(
    describe(PAYMENT, payment('AwaitingAuthorisation'), owner).standing,
    'until 2026-11-21 09:44:00Z, 14 minutes left',
  )
})

const dispute = (status: DisputeStatus): DisputeFacts => ({
  next_refund_at: null,
  merchant_id: ID,
  payment_id: ID,
  end_to_end_id: 'SVC',
  opened_by: 'MERCHANT',
  status,
  reason: 'OTHER',
  evidence_due_at: LATER,
  has_evidence: false,
  assignee: null,
  evidence_missing: false,
  due_at: null,
  escalation_reason: null,
  resolution_note: null,
  resolved_by: null,
  trading_name: 'Acme',
  realm_slug: null,
  opened_at: NOW,
  updated_at: NOW,
  resolved_at: null,
  gross_amount: '50.0000',
  refundable_amount: '50.0000',
  currency: 'GBP',
  refund_id: null,
  refund_status: null,
  refund_amount: null,
  ...COMMON,
})

t.test('every dispute status has a standing, and its next steps are the rows of the transition table', async (t) => {
  for (const status of DisputeStatus.options) {
    for (const viewer of VIEWERS) {
      t.match(describe(DISPUTE, dispute(status), viewer).standing, /^[a-z].{20,}\.$/, status)
      t.same(named(describe(DISPUTE, dispute(status), viewer).next), rowsOf(DISPUTE_TRANSITIONS, status))
    }
  }
  const resolutions = (viewer: Viewer): (string | null)[] =>
    describe(DISPUTE, dispute('ESCALATED'), viewer).next.map(({ how }) => how)
  const ops: Viewer = { ...owner, can: (permission) => permission !== 'administer platform' }
  t.same(resolutions(ops), [null, null], 'only an OWNER resolves an escalated dispute')
  t.match(resolutions(owner), [/^svc disputes resolve .* --favour merchant/, /--favour payer/])
})

const delivery = (status: DeliveryStatus, attempts: number): DeliveryFacts => ({
  event_id: 'evt_1',
  payment_intent_id: null,
  last_http_status: 500,
  created_at: NOW,
  event_type: 'payment.settled',
  status,
  attempt_count: attempts,
  last_error: 'http_500',
  next_retry_at: LATER,
  delivered_at: null,
  ended_at: null,
  is_test: false,
  is_leased: false,
  held: null,
  endpoint: 'set',
  waits_for: null,
  ...COMMON,
})

t.test('every delivery status has a standing, and its next steps are the rows possible at this attempt', async (t) => {
  const ATTEMPTS: Record<DeliveryStatus, number[]> = {
    PENDING: [0],
    FAILED: [1, 2, 3, 4, 5],
    DELIVERED: [1, 6],
    DEAD: [6],
  }
  for (const status of DeliveryStatus.options) {
    const steps = ATTEMPTS[status].flatMap((attempts) =>
      named(describe(DELIVERY, delivery(status, attempts), owner).next),
    )
    t.same([...new Set(steps)], rowsOf(DELIVERY_TRANSITIONS, status), `${status}: over all attempts every row`)
    for (const attempts of ATTEMPTS[status])
      t.match(describe(DELIVERY, delivery(status, attempts), owner).standing, /^[a-z].{10,}\.$/)
  }
  t.same(named(describe(DELIVERY, delivery('FAILED', 4), owner).next), ['delivered -> DELIVERED', 'failed -> FAILED'])
  t.same(named(describe(DELIVERY, delivery('FAILED', 5), owner).next), [
    'delivered -> DELIVERED',
    'failed for the last time -> DEAD',
  ])
  t.equal(
    describe(DELIVERY, delivery('FAILED', 3), owner).standing,
    'attempt 3 of 6 failed (answered 500): attempt 4 is due at 2026-11-21 09:44:00Z, 14 minutes left.',
  )
  t.match(
    describe(DELIVERY, { ...delivery('PENDING', 0), is_leased: true }, owner).standing,
    'being sent at this moment',
  )
  t.match(
    describe(DELIVERY, { ...delivery('PENDING', 0), waits_for: 'payment.initiated' }, owner).standing,
    'the earlier payment.initiated',
  )
})

const merchant = (kyb_status: KybStatus): MerchantFacts => ({
  trading_name: 'Acme',
  realm_slug: null,
  status: kyb_status,
  was_rejected: false,
  is_active: true,
  payout_held: false,
  payout_held_at: null,
  endpoint: 'set',
  dead_delivery_count: 2,
  open_dispute_count: 1,
  ...COMMON,
})

t.test('every KYB status has a standing, and its next steps are the rows of the transition table', async (t) => {
  for (const status of KybStatus.options) {
    t.match(describe(MERCHANT, merchant(status), owner).standing, /^[a-z].*; 2 webhooks DEAD; 1 open dispute\.$/)
    for (const viewer of VIEWERS)
      t.same(named(describe(MERCHANT, merchant(status), viewer).next), rowsOf(KYB_TRANSITIONS, status))
    t.ok(
      describe(MERCHANT, merchant(status), owner).next.every(({ how }) => how?.includes(ID)),
      'the id where there is no realm',
    )
    t.ok(describe(MERCHANT, merchant(status), support).next.every(({ how }) => how === null))
    t.ok(describe(MERCHANT, merchant(status), merchantsAdmin).next.every(({ how }) => how === null))
  }
})

t.test("only commands that the viewer's role may use are suggested", async (t) => {
  const commands = (viewer: Viewer): string[] =>
    [
      ...PaymentStatus.options.flatMap((status) => describe(PAYMENT, payment(status), viewer).next),
      ...DisputeStatus.options.flatMap((status) => describe(DISPUTE, dispute(status), viewer).next),
      ...DeliveryStatus.options.flatMap((status) => describe(DELIVERY, delivery(status, 6), viewer).next),
    ].flatMap(({ how }) => (how === null ? [] : [how.split(' ').slice(0, 4).join(' ')]))
  t.same(commands(support), [])
  t.same(
    [...new Set(commands(finance).map((how) => how.replace(` ${ID}`, '')))],
    ['svc payments refund', 'svc disputes evidence', 'svc disputes accept'],
  )
  t.notOk(commands(merchantsAdmin).some((how) => /^svc (disputes (escalate|resolve|refund)|outbox|kyb)/.test(how)))
  t.notOk(commands(owner).some((how) => /^svc (payments|disputes (evidence|accept)|webhooks (?!replay))/.test(how)))
})
