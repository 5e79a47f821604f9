import { getInbox, getPortalInbox } from '../../../src/wire/console.ts'
import type { InboxItem } from '../../../src/wire/console.ts'
import { call } from '../../client/call.ts'
import { UNTIL_WIDTH, untilText } from '../../base/ages.ts'
import { pageOf, screen } from '../screen.ts'
import type { ScreenName } from '../screen-names.ts'
import { registrationId } from './merchant-detail.ts'
import { ofMerchant } from './merchant-text.ts'

type Place = { screen: ScreenName; filter?: string; open?: string }

/** Where a thing is dealt with; undefined for what has no screen. */
export function placeOf(row: InboxItem): Place | undefined {
  const ofOne = row.merchant_id ?? row.id
  switch (row.kind) {
    case 'kyb_pending':
      return { screen: 'kyb', open: row.id }
    case 'registration_stuck':
      return { screen: 'merchants', open: registrationId(row) }
    case 'kyb_suspended':
    case 'payouts_held':
    case 'webhook_endpoint_gone':
      return { screen: 'merchants', open: ofOne }
    case 'dispute_evidence_due':
    case 'dispute_under_review':
    case 'dispute_escalated':
    case 'dispute_refund_rejected':
      return { screen: 'disputes', open: row.id }
    case 'deliveries_dead':
      return { screen: 'webhooks', filter: `DEAD ${ofMerchant(ofOne)}` }
    case 'payment_unanswered':
    case 'payment_settled_late':
      return { screen: 'payments', open: row.id }
    case 'payout_returned_late':
      return { screen: 'payouts', open: row.id }
    case 'payouts_unanswered':
      return { screen: 'payouts', filter: `SENT ${ofMerchant(ofOne)}` }
    case 'payouts_waiting':
      return { screen: 'payouts', filter: `CREATED ${ofMerchant(ofOne)}` }
    case 'reconciliation_different':
    case 'reconciliation_failed':
      return { screen: 'differences' }
    case 'refund_returned':
    case 'refunds_unanswered':
    case 'refunds_waiting':
    case 'statement_credit_of_failed':
    case 'statement_debit_of_failed':
    case 'secret_overlap_ending':
      return undefined
  }
}

function wordsOf(kind: string): string {
  return kind.replaceAll('_', ' ')
}

export const inbox = screen<InboxItem>({
  name: 'inbox',
  key: '9',
  title: 'Inbox',
  short: 'Inbox',
  reads: ['read merchants', 'read payments'],
  list: {
    read: async ({ client, who, page }) =>
      pageOf((await call(client, who.kind === 'platform' ? getInbox : getPortalInbox, { query: page })).body),
    isDirty: () => true,
  },
  id: ({ kind, id }) => `${kind}/${id}`,
  columns: ({ now }) => [
    {
      title: 'due',
      value: (row) => untilText(row.due_at, now),
      floor: UNTIL_WIDTH,
      style: (text) => (text.endsWith('over') ? 'red' : undefined),
    },
    { title: 'what', value: (row) => wordsOf(row.kind), least: 10 },
    { title: 'merchant', value: (row) => row.trading_name, least: 10 },
    { title: 'summary', value: (row) => row.summary, least: 16 },
  ],
  empty: 'No tasks need action.',
  copies: ({ command }) => command,
  open: (row, { who, go, show, screens }) => {
    const to = placeOf(row)
    // What has no screen here is dealt with by a command.
    if (to !== undefined && screens().includes(to.screen)) {
      const { screen: name, ...where } = to
      // A merchant's own deliveries are all of one.
      const isOwn = who.kind === 'merchant' && where.filter !== undefined
      return go(name, isOwn ? { filter: 'DEAD' } : where)
    }
    const due = untilText(row.due_at, Date.now())
    show(wordsOf(row.kind), [
      row.summary,
      '',
      `${row.trading_name}, due ${due}`,
      '',
      'Deal with it (y copies it from the list):',
      row.command,
    ])
  },
  keys: [],
})
