import type { DisputeStep } from '../disputes/states.ts'
import type { DisputeChangedBy } from '../wire/disputes.ts'
import type { TimelineEntry } from '../wire/explain.ts'
import type { ToldDispute, ToldDisputeEvent } from './record.ts'
import { entry, newest } from './timeline.ts'
import type { Told } from './timeline.ts'
import { wordsFor } from './viewer.ts'
import type { Viewer } from './viewer.ts'
import { moneyText } from './words.ts'

/** How many steps of disputes are told: evidence may be added again and again. */
export const DISPUTE_EVENTS_MAX = 100

const WHO: Readonly<Record<DisputeChangedBy, string>> = {
  PAYER: 'the payer',
  MERCHANT: 'the merchant',
  PLATFORM: 'an operator',
  BATCH_JOB: 'the service',
}

type Step = { dispute: ToldDispute | undefined; event: ToldDisputeEvent }

const TEXTS: Readonly<Record<DisputeStep, (step: Step) => string>> = {
  opening: ({ event, dispute }) => `${WHO[event.changed_by]} disputed the payment${aboutText(dispute)}`,
  evidence: ({ event }) =>
    event.previous_status === 'OPEN' ? 'the merchant submitted evidence' : 'the merchant added evidence',
  'evidence deadline': () => 'the time for evidence was over, and there was none',
  escalation: () => 'an operator escalated it',
  acceptance: () => "the merchant accepted it: resolved in the payer's favour",
  'resolution for the merchant': () => "an operator resolved it in the merchant's favour",
  'resolution for the payer': () => "an operator resolved it in the payer's favour",
  'refund ordered': () => 'an operator ordered its refund again',
}

/** What happened to disputes; the events are read newest first, with one more than is told where there are more. */
export function tellDisputes(
  disputes: readonly ToldDispute[],
  { events, viewer }: { events: readonly ToldDisputeEvent[]; viewer: Viewer },
): Told {
  const { rows, hasMore } = newest(events, DISPUTE_EVENTS_MAX)
  return {
    entries: [
      ...rows.map((event) => stepEntry({ event, dispute: disputes.find(({ id }) => id === event.dispute_id) }, viewer)),
      ...disputes.flatMap(dueOfDispute),
    ],
    leftOut: hasMore ? [`steps of disputes before the last ${DISPUTE_EVENTS_MAX}`] : [],
  }
}

function stepEntry(step: Step, viewer: Viewer): TimelineEntry {
  const { event } = step
  const isOperators = event.changed_by === 'PLATFORM'
  const tells = viewer.side === 'operator'
  const reason = tells && event.operator_note !== null ? `: ${wordsFor(viewer, event.operator_note)}` : ''
  const text = isStep(event.event) ? TEXTS[event.event](step) : event.event
  return entry({
    at: event.created_at,
    kind: 'dispute',
    // Nobody's name but an operator's, and that only among operators.
    by: isOperators ? (tells ? event.actor_name : null) : event.changed_by,
    text: `${text}${reason}`,
    status: event.new_status,
    ref: event.dispute_id,
  })
}

function dueOfDispute({ id, status, evidence_due_at }: ToldDispute): TimelineEntry[] {
  if (status !== 'OPEN') return []
  const text = "the time for the merchant's evidence ends"
  return [entry({ at: evidence_due_at, kind: 'due', text, ref: id })]
}

function aboutText(dispute: ToldDispute | undefined): string {
  if (dispute === undefined) return ''
  return ` of ${moneyText(dispute.gross_amount, dispute.currency)}: ${dispute.reason}`
}

function isStep(text: string): text is DisputeStep {
  return Object.hasOwn(TEXTS, text)
}
