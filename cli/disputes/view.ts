import { DisputeStatus } from '../../src/wire/dispute-fields.ts'
import type { AdminDisputeSummary, Dispute, DisputeEvent, DisputeSummary } from '../../src/wire/dispute-fields.ts'
import type { Style } from '../base/io.ts'
import { beside } from '../output/two-columns.ts'
import type { Statement } from '../output/two-columns.ts'
import type { Context } from '../kit/context.ts'
import { tableBelow, stylesOf } from '../output/table.ts'
import type { Column } from '../output/table.ts'
import { minuteOf, shortTime } from '../base/text.ts'
import { distanceOf } from '../base/times.ts'

export type ListedDispute = DisputeSummary | AdminDisputeSummary

export function isResolved({ status }: Pick<ListedDispute, 'status'>): boolean {
  return status.startsWith('RESOLVED_')
}

/** The short forms that tables show, with the statuses they stand for. */
export const SHORT_STATUSES: Readonly<Record<string, string>> = Object.fromEntries(
  DisputeStatus.options.flatMap((status) => (shortStatus(status) === status ? [] : [[shortStatus(status), status]])),
)

/** The ends differ in the side that it was resolved for. */
export function shortStatus(status: string): string {
  return status.replace(/^RESOLVED_(\w+)_FAVOUR$/, 'FOR_$1')
}

const styles = stylesOf({ FOR_MERCHANT: 'green', FOR_PAYER: 'red', ESCALATED: 'magenta' }, 'yellow')

/** Of a status, long or short. */
export function disputeStyle(status: string): Style {
  return styles(shortStatus(status))
}

type DisputeRecord = ListedDispute &
  Partial<Pick<Dispute, 'statement' | 'payer_statement' | 'merchant_evidence'>> & { events?: DisputeEvent[] }

export function printDispute({ print }: Pick<Context, 'print'>, dispute: DisputeRecord): void {
  const { events = [] } = dispute
  print.record(dispute, [...linesOf(dispute), ...endOf(dispute)], {
    id: dispute.id,
    after: [beside(sidesOf(dispute), print).join('\n'), tableBelow(print, notedOnce(dispute, events), EVENT_COLUMNS)],
  })
}

function notedOnce(dispute: DisputeRecord, events: readonly DisputeEvent[]): DisputeEvent[] {
  const above = [...linesOf(dispute), ...endOf(dispute)].map(([, text]) => text)
  const said = sidesOf(dispute).map(({ text }) => text)
  return events.map((event) => {
    const { note } = event
    const isShown = note !== null && (above.includes(note) || said.some((text) => text.includes(note)))
    return isShown ? { ...event, note: null } : event
  })
}

function linesOf(dispute: DisputeRecord): [string, string][] {
  return [
    ['Dispute', dispute.id],
    ['Status', dispute.status],
    ...operatorLines(dispute),
    ['Payment', dispute.payment_id],
    ['End-to-end id', dispute.end_to_end_id],
    ['Amount', `${dispute.gross_amount} ${dispute.currency}`],
    ['Left to refund', `${dispute.refundable_amount} ${dispute.currency}`],
    ['Reason', dispute.reason],
    ['Opened', `${shortTime(dispute.opened_at)} by ${dispute.opened_by}`],
    ['Evidence due', evidenceText(dispute)],
  ]
}

function operatorLines(dispute: DisputeRecord): [string, string][] {
  if (!('trading_name' in dispute)) return []
  const { trading_name: name, realm_slug: realm } = dispute
  return [
    ['Merchant', realm === null ? name : `${name} (${realm})`],
    ['Due', dispute.due_at === null ? '' : `${shortTime(dispute.due_at)} (${distanceOf(dispute.due_at)})`],
    ['Assignee', dispute.assignee ?? ''],
    ['Escalated for', dispute.escalation_reason ?? ''],
  ]
}

function evidenceText(dispute: DisputeRecord): string {
  const at = shortTime(dispute.evidence_due_at)
  if (dispute.evidence_missing) return `${at}: none came in time`
  return dispute.status === 'OPEN' ? `${at} (${distanceOf(dispute.evidence_due_at)})` : at
}

function endOf(dispute: DisputeRecord): [string, string][] {
  const { refund, resolved_at: at } = dispute
  const by = 'resolved_by' in dispute && dispute.resolved_by !== null ? ` by ${dispute.resolved_by}` : ''
  return [
    ['Resolved', at === null ? '' : `${shortTime(at)}${by}`],
    ['Note', dispute.resolution_note ?? ''],
    [
      'Refund',
      refund === null ? '' : `${refund.amount} ${dispute.currency} ${refund.refund_status} (${refund.refund_id})`,
    ],
  ]
}

export function sidesOf(dispute: DisputeRecord): Statement[] {
  const { opened_by: by, statement = null, payer_statement: payer = null, merchant_evidence: evidence = null } = dispute
  const said: [string, string | null][] = [
    ['The platform says', by === 'PLATFORM' ? statement : null],
    ['The payer says', payer],
    ['The merchant says', joined(by === 'MERCHANT' ? statement : null, evidence)],
  ]
  return said.flatMap(([title, text]) => (text === null || text === '' ? [] : [{ title, text }]))
}

function joined(...texts: readonly (string | null)[]): string {
  return texts.filter((text) => text !== null).join('\n\n')
}

const EVENT_COLUMNS: readonly Column<DisputeEvent>[] = [
  { title: 'time', value: (event) => shortTime(event.created_at), short: minuteOf },
  { title: 'event', value: (event) => event.event },
  { title: 'from', value: (event) => event.previous_status ?? '-', short: shortStatus, dropped: 1 },
  { title: 'to', value: (event) => event.new_status, short: shortStatus },
  { title: 'by', value: (event) => event.changed_by },
  { title: 'who', value: (event) => event.actor ?? '', dropped: 2, least: 12 },
  { title: 'note', value: (event) => event.note ?? '', least: 12 },
]
