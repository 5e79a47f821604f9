import { DisputeStatus } from '../../../src/wire/dispute-fields.ts'
import { getAdminDispute, getDispute, listAdminDisputes, listDisputes } from '../../../src/wire/disputes.ts'
import type { AdminDisputeWithEvents, DisputeWithEvents } from '../../../src/wire/dispute-fields.ts'
import { call } from '../../client/call.ts'
import { DISPUTE_ACTIONS } from '../../disputes/actions.ts'
import { findAnyDispute, findOwnDispute } from '../../disputes/find.ts'
import { isResolved, printDispute, shortStatus, disputeStyle } from '../../disputes/view.ts'
import type { ListedDispute } from '../../disputes/view.ts'
import type { Style } from '../../base/io.ts'
import { endOfId, shortTime } from '../../base/text.ts'
import { AGE_WIDTH, UNTIL_WIDTH, ageOf, untilText } from '../../base/ages.ts'
import { forOperators, leadingKey, pageOf, screen } from '../screen.ts'
import type { Hint, Page, Reading } from '../screen.ts'
import { actionKeys } from '../action-key.ts'
import { explainText, readFilter } from './merchant-text.ts'

type WholeDispute = DisputeWithEvents | AdminDisputeWithEvents

export const disputes = screen<ListedDispute, WholeDispute>({
  name: 'disputes',
  key: '5',
  title: 'Disputes',
  short: 'Disp',
  noun: 'dispute',
  reads: ['read merchants', 'read payments'],
  list: { read: readPage, isDirty: isAboutDisputes },
  serviceFilter: (filter) => readFilter(filter, WORDS).asked,
  serviceLooksFor: 'a status',
  id: ({ id }) => id,
  columns: ({ now, who }) => [
    { title: 'id', value: (row) => endOfId(row.id), dropped: 5 },
    { title: 'status', value: (row) => row.status, short: shortStatus, style: disputeStyle, least: 12 },
    ...forOperators<ListedDispute>(who, [
      { title: 'merchant', value: (row) => ('trading_name' in row ? row.trading_name : ''), least: 8 },
    ]),
    { title: 'due', value: (row) => untilText(dueOf(row), now), style: dueStyle, floor: UNTIL_WIDTH },
    { title: 'amount', value: (row) => row.gross_amount, align: 'right' },
    { title: 'cur', value: (row) => row.currency },
    { title: 'reason', value: (row) => row.reason, least: 12 },
    { title: 'evidence', value: evidenceText, style: dueStyle, dropped: 4 },
    { title: 'age', value: (row) => ageOf(row.opened_at, now), align: 'right', floor: AGE_WIDTH },
    { title: 'opened by', value: (row) => row.opened_by, dropped: 2 },
    { title: 'payment', value: (row) => endOfId(row.payment_id), dropped: 1 },
    { title: 'refund', value: (row) => row.refund?.refund_status ?? '', dropped: 3 },
    { title: 'left', value: (row) => row.refundable_amount, align: 'right', onlyWide: true },
    { title: 'opened', value: (row) => shortTime(row.opened_at), onlyWide: true },
    ...forOperators<ListedDispute>(who, [
      { title: 'realm', value: (row) => ('realm_slug' in row ? (row.realm_slug ?? '') : ''), onlyWide: true },
    ]),
    { title: 'dispute', value: (row) => row.id, onlyWide: true },
  ],
  empty: 'There are no such disputes.',
  detail: {
    title: (row) => `${row.reason} ${row.gross_amount} ${row.currency}`,
    read: readWhole,
    print: (context, { row, whole }) => printDispute(context, whole ?? row),
    find: async (client, text, half) =>
      (await (half === 'platform' ? findAnyDispute : findOwnDispute)(client, text)).id,
  },
  keys: [
    ...actionKeys<ListedDispute, ListedDispute>(DISPUTE_ACTIONS, { get: (row) => row, set: (_row, seen) => seen }),
    leadingKey<ListedDispute>({
      key: 'o',
      label: 'its payment',
      command: ({ payment_id: id }, _given, { kind }) => explainText(id, kind),
      to: ({ payment_id: id }) => ['payments', { open: id }],
    }),
  ],
})

function isAboutDisputes(hint: Hint): boolean {
  if ('of' in hint) return hint.of.includes('disputes')
  return hint.event.event_type.startsWith('dispute.') || hint.event.event_type.startsWith('refund.')
}

/** A status, long or as the table shows it. */
const WORDS = {
  status: (word: string) =>
    DisputeStatus.options.find((status) => [status, shortStatus(status)].includes(word.toUpperCase())),
}

async function readPage({ client, who, filter, page }: Reading): Promise<Page<ListedDispute>> {
  const query = { ...page, order: 'urgent' as const, ...readFilter(filter, WORDS).query }
  return pageOf((await call(client, who.kind === 'platform' ? listAdminDisputes : listDisputes, { query })).body)
}

async function readWhole({ client, who, arg: id }: Reading): Promise<WholeDispute> {
  return (await call(client, who.kind === 'platform' ? getAdminDispute : getDispute, { params: { id } })).body
}

/** The deadline of the side whose turn it is; a merchant waits for operators without one. */
export function dueOf(row: ListedDispute): string | null {
  if ('due_at' in row) return row.due_at
  return row.status === 'OPEN' ? row.evidence_due_at : null
}

function evidenceText(row: ListedDispute): string {
  if (row.has_evidence) return 'given'
  if (row.evidence_missing) return isResolved(row) ? 'none' : 'missed'
  return ''
}

function dueStyle(text: string): Style | undefined {
  if (text === 'missed' || text.endsWith('over')) return 'red'
  return /^in \d+ (s|min|h)$/.test(text) ? 'yellow' : undefined
}
