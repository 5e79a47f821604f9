import '../../support/tsx.ts'
import t from 'tap'
import type { InboxItem, Overview } from '../../../src/wire/console.ts'
import type { Who } from '../../../cli/client/auth/acting-side.ts'
import type { ScreenKey, Tools } from '../../../cli/console/screen.ts'
import { laidTable } from '../../../cli/console/table-lines.ts'
import { detailLines } from '../../../cli/console/record-lines.ts'
import { plainOf } from '../../../cli/console/lines.ts'
import type { PaymentRow, WholePayment } from '../../../cli/console/screens/payments.ts'
import { summaryOf } from '../harness.ts'
import { whoOf } from './who.ts'

/* Screens without a terminal: where their rows lead, what their keys say, money and names in one form. */

const { inbox, placeOf } = await import('../../../cli/console/screens/inbox.ts')
const { itemsOf } = await import('../../../cli/console/screens/overview.ts')
const { paymentDetail } = await import('../../../cli/console/screens/payments.ts')
const { payments } = await import('../../../cli/console/screens/payments.ts')
const { disputes } = await import('../../../cli/console/screens/disputes.ts')
const { webhooks } = await import('../../../cli/console/screens/webhooks.ts')
const { merchants } = await import('../../../cli/console/screens/merchants.ts')
const { amountLess, roundedText, sumText } = await import('../../../cli/base/money-text.ts')
const { listed, ownerText, ownerWhole } = await import('../../../cli/console/screens/merchant-text.ts')

const AT = '2026-11-22T12:00:00.000Z'
const NOW = Date.parse(AT)
const M = '019aa000-0000-7000-8000-000000000001'
const OWN = { merchant_id: M, realm_slug: 'sandbox-c231db0', trading_name: 'Acme' }

function keyOf<Row>(keys: readonly ScreenKey<Row>[], label: string): ScreenKey<Row> {
  const key = keys.find((each) => each.label === label)
  if (key === undefined) throw new Error(`no key ${label}`)
  return key
}

t.test('money is bigint, in the decimals of its currency', async (t) => {
  t.equal(amountLess('586.35', '0.00', 'GBP'), '586.35')
  t.equal(amountLess('10', '0.0125', 'GBP'), '9.9875')
  t.same(
    ['1.005', '1.0049', '0.7125', '9007199254740.9950', '2'].map((text) => roundedText(text, 'GBP')),
    ['1.01', '1.00', '0.71', '9007199254741.00', '2.00'],
  )
  t.equal(
    sumText([
      ['0.10', 'GBP'],
      ['5.00', 'EUR'],
      ['0.20', 'GBP'],
    ]),
    '0.30 GBP and 5.00 EUR',
  )
})

t.test('merchants are called by their names; long lists say how many more there are', async (t) => {
  t.equal(ownerText(OWN), 'Acme')
  t.equal(ownerWhole(OWN), 'Acme (sandbox-c231db0)')
  t.equal(ownerText({ merchant_id: M, realm_slug: 'acme', trading_name: null }), 'acme')
  t.same(listed([1, 2], String), ['1', '2'])
  t.same(listed([1, 2, 3, 4, 5, 6, 7], String), ['1', '2', '3', '4', '5', 'and 2 more'])
})

t.test('the confirmation shows the amount and who gets it', async (t) => {
  const row = {
    ...summaryOf('Settled'),
    ...OWN,
    gross_amount: '586.35',
    payer_name: 'Priya Raman',
  } as unknown as PaymentRow
  const refund = keyOf<PaymentRow>(payments.keys, 'refund')
  const lastOf = (rows: readonly PaymentRow[], given = {}): string | undefined =>
    refund.ask?.(rows, whoOf('ADMIN', 'merchant')).last?.(given)
  t.match(lastOf([row], { amount: '1.00' }), /^will refund 1\.00 GBP to Priya Raman \(payment \w{8}\)$/)
  t.match(lastOf([row]), /^will refund all that is left of 586\.35 GBP to Priya/)
  t.equal(lastOf([row, row]), 'will refund 1172.70 GBP of 2 payments to their payers')
  const several = refund.ask?.([row, row], whoOf('ADMIN', 'merchant'))
  t.match(several?.about, [
    String,
    /^Together: refund 1172\.70 GBP of 2 payments/,
    /payment \w{8} of 586\.35 GBP/,
    String,
  ])
  t.same(
    several?.fields?.map(({ name }) => name),
    ['reason'],
  )
  t.equal(refund.ask?.([row], whoOf('ADMIN', 'merchant')).fields?.[0]?.initial, '586.35')
  const dispute = { id: M, reason: 'OTHER', gross_amount: '50.00', currency: 'GBP', refundable_amount: '49.00' }
  const resolve = keyOf<unknown>(disputes.keys, 'resolve').ask?.([dispute], whoOf('OPS', 'platform'))
  t.match(resolve?.last?.({ favour: 'merchant', note: 'n' }), /in the merchant's favour, and refund nothing$/)
  t.match(resolve?.last?.({ favour: 'payer', refund: 'yes', note: 'n' }), /payer's favour, and refund 49\.00 GBP, all/)
  const weighs = (keys: readonly ScreenKey<unknown>[], rows: readonly unknown[]): string[] =>
    keys.filter((key) => key.ask?.(rows, whoOf('OWNER', 'platform')).last !== undefined).map(({ label }) => label)
  t.same(weighs(merchants.keys, [{ id: M, merchant: null, registration: null, dead: 0 }].slice(1)), [
    'hold',
    'fees',
    'limits',
    'disable',
    'refuse',
    'suspend',
    'repair',
  ])
})

const DISPUTE = {
  ...OWN,
  id: M,
  payment_id: M,
  status: 'ESCALATED',
  reason: 'ITEM_NOT_RECEIVED',
  gross_amount: '1586.35',
  refundable_amount: '1586.35',
  currency: 'EUR',
  has_evidence: true,
  opened_at: AT,
  opened_by: 'PAYER',
  refund: null,
  due_at: '2026-11-22T15:00:00.000Z',
}

t.test('no dispute is shown without its currency, and what waits has its deadline, whatever its status', async (t) => {
  const who = whoOf('OPS')
  for (const width of [58, 78, 98, 138]) {
    const laid = laidTable([DISPUTE], disputes.columns({ width, who, kept: {}, now: NOW, wide: false }), { width })
    t.match(plainOf(laid.row(0)), /ESCALATED .*in 3 h +1586\.35 +EUR/, `${width}`)
  }
  const { due_at: _due, merchant_id, trading_name: _name, realm_slug: _realm, ...own } = DISPUTE
  const mine = { ...own, merchant_id, status: 'UNDER_REVIEW', evidence_due_at: AT }
  const layout = { width: 78, who: whoOf('ADMIN', 'merchant'), kept: {}, now: NOW, wide: false }
  t.match(plainOf(laidTable([mine], disputes.columns(layout), { width: 78 }).row(0)), /UNDER_REVIEW +1586\.35 +EUR/)
})

t.test('the command that shows the dead deliveries is one of the caller', async (t) => {
  const { command } = keyOf(webhooks.keys, 'dead only')
  t.equal(command({}, {}, whoOf('OPS')), 'svc webhooks list --status DEAD --all-merchants')
  t.equal(command({}, {}, whoOf('ADMIN', 'merchant')), 'svc webhooks list --status DEAD')
})

t.test('a detail names no key that does nothing there', async (t) => {
  const delivery = {
    id: M,
    event_type: 'payment.settled',
    payment_id: M,
    status: 'DELIVERED',
    attempt_count: 1,
    last_error: null,
    next_retry_at: null,
    created_at: AT,
    last_http_status: 200,
  }
  const row = { ...summaryOf('Settled'), ...OWN, status_history: [] } as unknown as PaymentRow
  const whole = { payment: row, deliveries: [delivery], refunds: [] } as unknown as WholePayment
  const layout = { width: 78, who: whoOf('OPS'), kept: {}, now: NOW, wide: false }
  const text = (keys: ReadonlySet<string>): string =>
    detailLines(paymentDetail, { row, whole }, { ...layout, keys })
      .map(plainOf)
      .join('\n')
  t.match(text(new Set(['o'])), /^Webhooks \(o opens them\)$/m)
  t.match(text(new Set(['a'])), /^Webhooks$/m)
})

const ITEM: InboxItem = {
  kind: 'deliveries_dead',
  id: M,
  ...OWN,
  summary: '3 deliveries to the merchant are DEAD',
  count: 3,
  since: AT,
  due_at: AT,
  overdue: true,
  command: 'svc webhooks list --merchant acme --status DEAD',
}

t.test('a row of the inbox leads to its place, and y copies its command', async (t) => {
  const of = (kind: InboxItem['kind']): unknown => placeOf({ ...ITEM, kind })
  t.same(of('payouts_unanswered'), { screen: 'payouts', filter: `SENT merchant:${M}` })
  t.same(of('deliveries_dead'), { screen: 'webhooks', filter: `DEAD merchant:${M}` })
  t.same(of('webhook_endpoint_gone'), { screen: 'merchants', open: M })
  t.equal(of('refund_returned'), undefined)
  t.same(of('payouts_held'), { screen: 'merchants', open: M })
  t.same(of('dispute_escalated'), { screen: 'disputes', open: M })
  t.equal(of('secret_overlap_ending'), undefined)
  t.equal(inbox.copies?.(ITEM), ITEM.command)
  t.equal(webhooks.serviceFilter?.(`DEAD merchant:${M} x`), `DEAD merchant:${M}`)
  t.equal(webhooks.serviceFilter?.(`payment:${M}`), `payment:${M}`)
  t.equal(webhooks.serviceFilter?.('merchant: dead'), 'DEAD')
  const went: unknown[] = []
  const tools = {
    who: whoOf('ADMIN', 'merchant'),
    screens: () => ['webhooks'],
    go: (...to: unknown[]) => went.push(to),
  }
  inbox.open?.(ITEM, tools as unknown as Tools)
  t.same(went, [['webhooks', { filter: 'DEAD' }]], 'a merchant has no other')
  const kinds = ['dispute_evidence_due', 'dispute_under_review', 'deliveries_dead'] as const
  const rows = kinds.map((kind) => ({ ...ITEM, kind }))
  const layout = { width: 58, who: whoOf('OWNER', 'platform'), kept: {}, now: NOW, wide: false }
  const laid = laidTable(rows, inbox.columns(layout), { width: 58 })
  t.match(
    rows.map((_, index) => plainOf(laid.row(index))).join('\n'),
    / dispute evid\S* [^]* dispute und\S* [^]* deliveries d/,
  )
})

function seenOf(disputesOf: Partial<Overview['disputes']>): Overview {
  return {
    as_of: AT,
    payments: {
      by_status: { Initiated: 0, AwaitingAuthorisation: 0, Authorised: 0, Settled: 0, Failed: 0, Refunded: 0 },
      per_minute: Array.from({ length: 60 }, () => 0),
    },
    money_today: [],
    kyb: null,
    deliveries: { pending: 0, dead: 2, oldest_due_at: null },
    disputes: {
      open: 0,
      under_review: 0,
      escalated: 0,
      oldest_open_at: null,
      next_evidence_due_at: null,
      ...disputesOf,
    },
    worker: { lag_ms: 0 },
  }
}

t.test('the overview asks for a hand where the inbox does, and leads to what it counts', async (t) => {
  const states = (who: Who, seen: Overview): unknown[] =>
    itemsOf(seen, who)
      .filter(({ id }) => ['disputes', 'review', 'escalated', 'dead', 'worker'].includes(id))
      .map(({ id, count, state, leadsTo, filter }) => [id, count, state, leadsTo, filter])
  const seen = seenOf({ open: 1, under_review: 2, escalated: 3 })
  t.same(states(whoOf('OWNER', 'platform'), seen), [
    ['disputes', '1', 'look', 'disputes', 'OPEN'],
    ['review', '2', 'act', 'disputes', 'UNDER_REVIEW'],
    ['escalated', '3', 'act', 'disputes', 'ESCALATED'],
    ['dead', '2', 'act', 'webhooks', 'DEAD'],
    ['worker', '-', 'good', undefined, undefined],
  ])
  t.match(states(whoOf('ADMIN', 'merchant'), seen), [
    ['disputes', '1', 'act'],
    ['review', '2', 'good'],
    ['escalated', '3', 'good', 'disputes', 'ESCALATED'],
    ['dead', '2', 'act'],
  ])
  const quiet = states(whoOf('FINANCE', 'merchant'), seenOf({}))
  t.notMatch(JSON.stringify(quiet), /dead/)
  t.match(quiet, [['disputes'], ['review', '0', 'good'], ['escalated', '0', 'good'], ['worker']], 'rows stay at none')
})
