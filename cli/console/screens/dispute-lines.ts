import type { AdminDisputeWithEvents, DisputeWithEvents } from '../../../src/wire/disputes.ts'
import { isResolved, shortStatus, sidesOf } from '../../disputes/view.ts'
import type { ListedDispute } from '../../disputes/view.ts'
import { minuteOf, shortTime } from '../../base/text.ts'
import { heading, line, pairs, paragraph, sideBySide } from '../lines.ts'
import type { Line, Pair, Tone } from '../lines.ts'
import { ageOf, untilText } from '../model/ages.ts'
import type { Layout } from '../screen.ts'
import { tableLines } from '../table-lines.ts'

/** A dispute with its evidence and all that has happened to it. */
export type WholeDispute = DisputeWithEvents | AdminDisputeWithEvents

/** A dispute in detail: what it is about, what each side says beside the other, what has happened. */
export function disputeLines(
  { row, whole }: { row: ListedDispute; whole: WholeDispute | undefined },
  { width, now }: Layout,
): Line[] {
  const known = whole ?? row
  return [
    ...pairs([...factsOf(known, now), ...endOf(known)], width),
    ...(whole === undefined ? [...heading('What is said'), line('Loading ...', 'dim')] : saidLines(whole, width)),
    ...eventLines(whole, width),
  ]
}

function factsOf(row: ListedDispute, now: number): Pair[] {
  const due = shortTime(row.evidence_due_at)
  return [
    ['Dispute', row.id],
    ['Merchant', 'trading_name' in row ? `${row.trading_name} (${row.realm_slug ?? row.merchant_id})` : ''],
    ['Status', row.status, toneOf(row.status)],
    ['Payment', `${row.payment_id} ${row.end_to_end_id}`],
    ['Amount', `${row.gross_amount} ${row.currency}, ${row.refundable_amount} left to refund`],
    ['Reason', row.reason],
    ['Opened', `${shortTime(row.opened_at)} by ${row.opened_by} (${ageOf(row.opened_at, now)} ago)`],
    [
      'Evidence due',
      row.evidence_missing
        ? `${due}: none came in time`
        : row.status === 'OPEN'
          ? `${due} (${untilText(row.evidence_due_at, now)})`
          : due,
      row.evidence_missing ? 'bad' : undefined,
    ],
    ['Due', dueText(row, now)],
    ['Assignee', 'assignee' in row ? (row.assignee ?? '') : ''],
    ['Escalated for', 'escalation_reason' in row ? (row.escalation_reason ?? '') : ''],
  ]
}

/** Until when operators should have dealt with it; the deadline of the evidence stands above. */
function dueText(row: ListedDispute, now: number): string {
  if (!('due_at' in row) || row.due_at === null || row.status === 'OPEN') return ''
  return `${shortTime(row.due_at)} (${untilText(row.due_at, now)})`
}

function endOf(row: ListedDispute): Pair[] {
  const by = 'resolved_by' in row && row.resolved_by !== null ? ` by ${row.resolved_by}` : ''
  return [
    ['Resolved', row.resolved_at === null ? '' : `${shortTime(row.resolved_at)}${by}`],
    ['Note', row.resolution_note ?? ''],
    [
      'Refund',
      row.refund === null ? '' : `${row.refund.amount} ${row.currency} ${row.refund.refund_status}`,
      row.refund?.refund_status === 'FAILED' ? 'bad' : undefined,
    ],
  ]
}

function toneOf(status: string): Tone {
  if (status === 'RESOLVED_MERCHANT_FAVOUR') return 'good'
  if (status === 'RESOLVED_PAYER_FAVOUR') return 'bad'
  return status === 'ESCALATED' ? 'info' : 'warn'
}

/** The payer's statement and the merchant's evidence beside each other; what the platform says stands above. */
function saidLines(whole: WholeDispute, width: number): Line[] {
  const said = sidesOf(whole)
  const platform = said.find(({ title }) => title.startsWith('The platform'))
  const textOf = (side: string): string => said.find(({ title }) => title === side)?.text ?? ''
  return [
    ...(platform === undefined ? [] : [...heading(platform.title), ...paragraph(platform.text, width)]),
    ...sideBySide(
      { title: 'The payer says', text: textOf('The payer says') || 'Nothing.' },
      {
        title: 'The merchant says',
        text: textOf('The merchant says') || (isResolved(whole) ? 'Nothing.' : 'Nothing yet.'),
      },
      width,
    ),
  ]
}

function eventLines(whole: WholeDispute | undefined, width: number): Line[] {
  if (whole === undefined) return []
  return [
    ...heading('What has happened'),
    ...tableLines(
      whole.events,
      [
        { title: 'time', value: (event) => shortTime(event.created_at), short: minuteOf },
        { title: 'event', value: (event) => event.event },
        { title: 'to', value: (event) => shortStatus(event.new_status) },
        { title: 'by', value: (event) => event.actor ?? event.changed_by, least: 8 },
        { title: 'note', value: (event) => event.note ?? '', least: 12, dropped: 1 },
      ],
      width,
    ),
  ]
}
