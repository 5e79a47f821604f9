import { PaymentStatus } from '../../../src/wire/payments.ts'
import type { Overview } from '../../../src/wire/console.ts'
import type { Who } from '../../client/auth/acting-side.ts'
import { ageOf, spanText, untilText } from '../model/ages.ts'
import type { ScreenName } from '../screen-names.ts'

/** One thing to look after, and where that is done. */
export type Item = {
  id: string
  what: string
  count: string
  detail: string
  state: 'good' | 'look' | 'act'
  /** Without a place it is told what to do. */
  leadsTo: ScreenName | undefined
  filter?: string
  overview: Overview
}

// An operator looks when work has been due for so long that the worker should have taken it.
const LAG_LOOK_MS = 5_000
const LAG_ACT_MS = 60_000

type Told = Pick<Item, 'count' | 'detail' | 'state' | 'leadsTo' | 'filter'>

/** What there is to look after. What asks for somebody's hand here stands in their inbox, too. */
export function itemsOf(seen: Overview, who: Pick<Who, 'kind' | 'permissions'>): Item[] {
  const now = Date.parse(seen.as_of)
  const item = (id: string, what: string, told: Told): Item => ({ id, what, overview: seen, ...told })
  const seesHooks = who.kind === 'platform' || who.permissions.includes('manage webhooks')
  const { worker, payments, kyb } = seen
  return [
    ...(kyb === null
      ? []
      : [
          item('kyb', 'KYB waiting', {
            count: many(kyb.pending),
            detail: oldest(kyb.oldest_pending_at, now),
            state: kyb.pending === 0 ? 'good' : 'act',
            leadsTo: 'kyb',
          }),
        ]),
    ...disputeItems(seen, who).map(([id, what, told]) => item(id, what, told)),
    ...(seesHooks ? hookItems(seen).map(([id, what, told]) => item(id, what, told)) : []),
    item('worker', 'Worker behind', {
      count: worker.lag_ms < LAG_LOOK_MS ? '-' : spanText(worker.lag_ms),
      detail: worker.lag_ms < LAG_LOOK_MS ? '' : 'svc status tells more',
      state: worker.lag_ms >= LAG_ACT_MS ? 'act' : worker.lag_ms >= LAG_LOOK_MS ? 'look' : 'good',
      leadsTo: undefined,
    }),
    ...PaymentStatus.options.map((status) =>
      item(status, `Payments ${status}`, {
        count: String(payments.by_status[status]),
        detail: 'in 24 h',
        state: 'good',
        leadsTo: 'payments',
        filter: status,
      }),
    ),
  ]
}

function oldest(at: string | null, now: number): string {
  return at === null ? '' : `oldest ${ageOf(at, now)}`
}

type Named = [id: string, what: string, told: Told]

/** An OPEN one waits for its merchant, the others for the platform: each of them acts on its own. */
function disputeItems({ disputes, as_of: asOf }: Overview, { kind }: Pick<Who, 'kind'>): Named[] {
  const now = Date.parse(asOf)
  const due = disputes.next_evidence_due_at
  const details =
    disputes.open === 0
      ? []
      : [due === null ? '' : `evidence due ${untilText(due, now)}`, oldest(disputes.oldest_open_at, now)]
  const ofPlatform = kind === 'platform' ? ('act' as const) : ('good' as const)
  const told = (count: number, filter: string, state: Item['state'], detail: string): Told => ({
    count: many(count),
    detail,
    state: count === 0 ? 'good' : state,
    leadsTo: 'disputes',
    filter,
  })
  const waits = kind === 'platform' ? '' : 'the platform decides'
  const escalatedText = disputes.escalated === 0 ? '' : kind === 'platform' ? 'for an OWNER' : waits
  return [
    [
      'disputes',
      'Disputes open',
      told(
        disputes.open,
        'OPEN',
        kind === 'platform' ? 'look' : 'act',
        details.filter((text) => text !== '').join(', '),
      ),
    ],
    // Most of the time there are none of these; their rows stay, so that the others keep their places.
    named(
      'review',
      'Disputes in review',
      told(disputes.under_review, 'UNDER_REVIEW', ofPlatform, disputes.under_review === 0 ? '' : waits),
    ),
    named('escalated', 'Disputes escalated', told(disputes.escalated, 'ESCALATED', ofPlatform, escalatedText)),
  ]
}

function named(id: string, what: string, told: Told): Named {
  return [id, what, told]
}

function hookItems({ deliveries, as_of: asOf }: Overview): Named[] {
  return [
    named('dead', 'Webhooks dead', {
      count: many(deliveries.dead),
      detail: deliveries.dead === 0 ? '' : 'they wait for a replay',
      state: deliveries.dead === 0 ? 'good' : 'act',
      leadsTo: 'webhooks',
      filter: 'DEAD',
    }),
    named('pending', 'Webhooks pending', {
      count: many(deliveries.pending),
      detail: oldest(deliveries.oldest_due_at, Date.parse(asOf)),
      state: 'good',
      leadsTo: 'webhooks',
      filter: 'PENDING',
    }),
  ]
}

/** What is told of a worker that is behind. */
export function workerLines(behind: string): string[] {
  return [
    behind === '-'
      ? 'The worker takes what is due at once.'
      : `The oldest thing that is due has waited for ${behind}: no worker runs, or it is too slow.`,
    '',
    'What it does, and what is in its way:',
    'svc status',
    'svc doctor',
  ]
}

const COUNTED_MAX = 10_000

function many(count: number): string {
  return count >= COUNTED_MAX ? `${COUNTED_MAX}+` : String(count)
}
