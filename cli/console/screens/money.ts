import { isUuid } from '../../../src/lib/ids.ts'
import { isKnownCurrency } from '../../../src/lib/money.ts'
import { getBalances, listBalances } from '../../../src/wire/ledger.ts'
import type { Balance, MerchantBalance } from '../../../src/wire/ledger.ts'
import { PayoutStatus, getAdminPayout, getPayout } from '../../../src/wire/payouts.ts'
import type { Payout, PayoutWithEvents } from '../../../src/wire/payouts.ts'
import { getPortalReconciliation, listReconciliations } from '../../../src/wire/reconciliation.ts'
import type { Difference } from '../../../src/wire/reconciliation.ts'
import {
  getAdminSettlement,
  getSettlement,
  listAdminSettlementLines,
  listSettlementLines,
} from '../../../src/wire/settlements.ts'
import type { Settlement, SettlementLine } from '../../../src/wire/settlements.ts'
import { shortTime } from '../../base/text.ts'
import type { Who } from '../../client/auth/acting-side.ts'
import { call } from '../../client/call.ts'
import type { Client } from '../../client/call.ts'
import type { PageReader } from '../../client/pages.ts'
import { PAYOUT_ACTIONS } from '../../payouts/actions.ts'
import { findPayout, payoutPages } from '../../payouts/subject.ts'
import { payoutColumns, printPayout } from '../../payouts/view.ts'
import { BALANCE_COLUMNS, DIFFERENCE_COLUMNS, MERCHANT_BALANCE_COLUMNS, totalsText } from '../../reconciliation/view.ts'
import { SETTLEMENT_ACTIONS } from '../../settlements/actions.ts'
import { findSettlement, settlementPages } from '../../settlements/find.ts'
import { LINE_COLUMNS, printSettlement, settlementColumns } from '../../settlements/view.ts'
import { actionKeys } from '../action-key.ts'
import { EMPTY_LINE, heading, line } from '../lines.ts'
import { tableLines } from '../record-lines.ts'
import { forOperators, leadingKey, pageOf, screen } from '../screen.ts'
import type { Hint, Page, Reading, Resource, Tools } from '../screen.ts'
import { explainText, ofMerchant, oneOf, readFilter, wordAfter } from './merchant-text.ts'

/* Money after payments have settled, in four screens of one group. */

const SHARED = { key: '0', group: 'Money', short: 'Money', reads: ['read merchants', 'read balances'] } as const

const MONEY_EVENT = /^(payout|dispute|refund)\.|^payment\.(settled|refunded)$/
// Settlements close and payouts are sent without an event; comparing the books costs more than reading a list.
const OLD_MS = 20_000
const COMPARED_MS = 60_000

const refreshing: Pick<Resource<unknown>, 'isDirty' | 'isOld'> = {
  isDirty: (hint: Hint) => 'event' in hint && MONEY_EVENT.test(hint.event.event_type),
  isOld: (_rows, { readAt, now }) => now - readAt > OLD_MS,
}

type ListQuery<Status> = { currency?: string; merchant_id?: string; status?: Status }

function listed<Row, Status>(
  pagesFrom: (client: Client, isOfAll: boolean, query: ListQuery<Status>) => PageReader<Row>,
  status: (word: string) => Status | undefined,
) {
  const words = {
    currency: (word: string) => (isKnownCurrency(word.toUpperCase()) ? word.toUpperCase() : undefined),
    merchant_id: (word: string) => wordAfter(word, ofMerchant('')),
    status,
  }
  return {
    list: {
      async read({ client, who, filter, page }: Reading): Promise<Page<Row>> {
        const isOfAll = who.kind === 'platform'
        const { merchant_id: merchant, ...wanted } = readFilter(filter, words).query
        const one = isOfAll && merchant !== undefined ? { merchant_id: merchant } : {}
        return pageOf(await pagesFrom(client, isOfAll, { ...wanted, ...one })(page))
      },
      ...refreshing,
    },
    serviceFilter: (filter: string) => readFilter(filter, words).asked,
    serviceLooksFor: 'a status, a currency or merchant:<id>',
  }
}

function filterColumn(who: Who) {
  const value = (row: { merchant_id: string }): string => ofMerchant(row.merchant_id)
  return forOperators(who, [{ title: 'filter by', value, onlyWide: true }])
}

type Totals = readonly Parameters<typeof totalsText>[0][]

export const balances = screen<Balance | MerchantBalance, never, Totals>({
  ...SHARED,
  name: 'balances',
  title: 'Balances',
  list: { read: readBalances, ...refreshing },
  id: (row) => `${ownerOf(row) ?? ''}/${row.currency}`,
  head: (_rows, _layout, totals = []) =>
    totals.length === 0 ? [] : [...totals.map((row) => line(` ${totalsText(row)}`, 'dim')), EMPTY_LINE],
  columns: ({ who }) => [
    // The rows are of the viewer's kind.
    ...((who.kind === 'platform' ? MERCHANT_BALANCE_COLUMNS : BALANCE_COLUMNS) as typeof BALANCE_COLUMNS),
    { title: 'not paid out', value: blockText, style: () => 'red', least: 11 },
  ],
  empty: 'No payment has settled yet.',
  open: (row, { go }) => {
    const merchant = ownerOf(row)
    go('settlements', { filter: `${row.currency}${merchant === undefined ? '' : ` ${ofMerchant(merchant)}`}` })
  },
  keys: [
    leadingKey<Balance | MerchantBalance>({
      key: 'm',
      label: 'its merchant',
      for: 'platform',
      command: (row) => `svc merchants show ${ownerOf(row) ?? ''}`,
      to: (row) => ['merchants', { open: ownerOf(row) ?? '' }],
    }),
  ],
})

/** Only the ends of the words tell them apart where they are cut. */
function blockText({ payout_blocked_by: block }: Pick<Balance, 'payout_blocked_by'>): string {
  return block?.replace(/^(BANK|MERCHANT|PAYOUT)_/, '') ?? ''
}

function ownerOf(row: object): string | undefined {
  return 'merchant_id' in row ? String(row.merchant_id) : undefined
}

async function readBalances({ client, who, page }: Reading): Promise<Page<Balance | MerchantBalance, Totals>> {
  if (who.kind === 'merchant') return { rows: (await call(client, getBalances, {})).body.data, next: null }
  const { body } = await call(client, listBalances, { query: page })
  return { rows: body.data, next: body.next_cursor, extra: body.totals }
}

type WholeSettlement = { settlement: Settlement; lines: readonly SettlementLine[]; hasMore: boolean }

export const settlements = screen<Settlement, WholeSettlement>({
  ...SHARED,
  name: 'settlements',
  title: 'Settlements',
  noun: 'settlement',
  ...listed(settlementPages, oneOf(['CLOSED', 'PAID_OUT'] as const)),
  id: (row) => row.settlement_id,
  columns: ({ who }) => [...settlementColumns(who.kind === 'platform'), ...filterColumn(who)],
  empty: 'No period is settled yet.',
  detail: {
    title: (row) => `${row.net_amount} ${row.currency} ${row.status}`,
    read: readSettlement,
    row: ({ settlement }) => settlement,
    print: (context, { row, whole }) => printSettlement(context, whole?.settlement ?? row),
    below: ({ lines, hasMore, settlement: { settlement_id: id } }, { width }) => [
      ...heading(hasMore ? `The first ${lines.length} lines (svc settlements export ${id} has all)` : 'Lines'),
      ...tableLines(lines, LINE_COLUMNS, width),
    ],
    find: async (client, text, half) => (await findSettlement(client, text, half === 'platform')).settlement_id,
  },
  keys: [
    ...actionKeys<Settlement, never>(SETTLEMENT_ACTIONS, { get: () => null, set: (row) => row }),
    leadingKey<Settlement>({
      key: 'o',
      label: 'its payout',
      fits: (row) => row.payout_id !== null,
      command: (row, _given, { kind }) => explainText(row.payout_id ?? '', kind),
      to: (row) => ['payouts', { open: row.payout_id ?? '' }],
    }),
  ],
})

async function readSettlement({ client, who, arg: id }: Reading): Promise<WholeSettlement> {
  const ofOne = { params: { id } }
  const query = { limit: 100 }
  const isOfAll = who.kind === 'platform'
  const [{ body: settlement }, { body: page }] = await Promise.all([
    call(client, isOfAll ? getAdminSettlement : getSettlement, ofOne),
    call(client, isOfAll ? listAdminSettlementLines : listSettlementLines, { ...ofOne, query }),
  ])
  return { settlement, lines: page.data, hasMore: page.has_more }
}

type ShownPayout = Payout & Partial<PayoutWithEvents>

export const payouts = screen<ShownPayout>({
  ...SHARED,
  name: 'payouts',
  title: 'Payouts',
  noun: 'payout',
  ...listed(payoutPages, oneOf(PayoutStatus.options)),
  id: (row) => row.payout_id,
  columns: ({ who }) => [...payoutColumns(who.kind === 'platform'), ...filterColumn(who)],
  empty: 'Nothing is paid out yet.',
  detail: {
    title: (row) => `${row.amount} ${row.currency} ${row.status}`,
    read: async ({ client, who, arg: id }) =>
      (await call(client, who.kind === 'platform' ? getAdminPayout : getPayout, { params: { id } })).body,
    print: (context, { row, whole }) => printPayout(context, whole ?? row),
    find: async (client, text, half) => (await findPayout(client, text, half === 'platform')).payout_id,
  },
  keys: [
    ...actionKeys<ShownPayout, Payout>(PAYOUT_ACTIONS, { get: (row) => row, set: (_row, payout) => payout }),
    leadingKey<ShownPayout>({
      key: 'o',
      label: 'its settlement',
      on: 'detail',
      fits: (row) => paidBy(row) !== '',
      command: (row, _given, { kind }) => explainText(paidBy(row), kind),
      to: (row) => ['settlements', { open: paidBy(row) }],
    }),
  ],
})

/** The first settlement that it pays; the list does not know. */
function paidBy({ settlement_ids: ids }: ShownPayout): string {
  return ids?.[0] ?? ''
}

type Compared = { text: string; next: string; isWrong: boolean }

/**
 * Where payments, ledger, bank and statements disagree: for operators as the last daily run has found, for merchants of
 * the last day, compared again each minute.
 */
export const differences = screen<Difference, never, Compared>({
  ...SHARED,
  name: 'differences',
  title: 'Differences',
  list: {
    read: readDifferences,
    isDirty: () => false,
    isOld: (_rows, { readAt, now }) => now - readAt > COMPARED_MS,
  },
  id: (row) => `${row.kind}/${row.merchant_id}/${row.currency}/${row.subject}`,
  head: (_rows, _layout, compared) =>
    compared === undefined
      ? []
      : [line(` ${compared.text}`, compared.isWrong ? 'bad' : 'good'), line(` ${compared.next}`, 'dim'), EMPTY_LINE],
  columns: () => DIFFERENCE_COLUMNS,
  empty: 'There are no differences.',
  open: (row, { who, show }) =>
    show(row.kind, [
      `${row.subject}: expected ${row.expected_amount ?? 'none'}, found ${row.found_amount ?? 'none'} ${row.currency}`,
      ...(row.merchant_id === null ? [] : [`Merchant ${row.merchant_id}`]),
      '',
      row.cause,
      ...(idOf(row) === '' ? [] : ['', explainText(idOf(row), who.kind)]),
    ]),
  keys: [
    leadingKey<Difference>({
      key: 'o',
      label: 'open it',
      fits: (row) => idOf(row) !== '',
      command: (row, _given, { kind }) => explainText(idOf(row), kind),
      to: (row) => placeOf(row) ?? ['differences'],
    }),
  ],
})

/** Where what differs is looked at; what is not there, and an entry or account of the ledger, is nowhere. */
function placeOf({ kind, payment_id: payment, subject }: Difference): Parameters<Tools['go']> | undefined {
  if (payment !== null) return ['payments', { open: payment }]
  if (!isUuid(subject)) return undefined
  if (/WITHOUT|UNKNOWN|^STATEMENT|^DISPUTE/.test(kind)) return undefined
  if (kind.includes('PAYOUT')) return ['payouts', { open: subject }]
  return kind.includes('SETTLEMENT') ? ['settlements', { open: subject }] : undefined
}

function idOf(row: Difference): string {
  return placeOf(row)?.[1]?.open ?? ''
}

const NOW = 'svc reconcile compares now.'
const DAY_MS = 86_400_000

async function readDifferences({ client, who }: Reading): Promise<Page<Difference, Compared>> {
  if (who.kind === 'merchant') {
    const query = { from: new Date(Date.now() - DAY_MS).toISOString() }
    const { body } = await call(client, getPortalReconciliation, { query })
    const text = `What moved in the last 24 hours ${body.is_balanced ? 'adds up' : 'does not add up'}`
    const next = 'svc reconcile compares everything.'
    return { rows: body.differences, next: null, extra: { text, next, isWrong: !body.is_balanced } }
  }
  const { data } = (await call(client, listReconciliations, { query: { limit: 10 } })).body
  const last = data.find(({ status }) => status !== 'RUNNING')
  if (last === undefined)
    return { rows: [], next: null, extra: { text: 'Not compared yet', next: NOW, isWrong: false } }
  const { status, as_of: asOf, difference_count: count, failure } = last
  const text = `${status}: ${failure ?? `${count === 0 ? 'no' : count} difference${count === 1 ? '' : 's'}`} until ${shortTime(asOf)}`
  const next = `Next run ${shortTime(last.next_run_at)}. ${NOW}`
  return { rows: last.differences, next: null, extra: { text, next, isWrong: status !== 'BALANCED' } }
}
