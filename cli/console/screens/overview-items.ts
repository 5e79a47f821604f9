import { PaymentStatus } from '../../../src/wire/payments.ts'
import type { Overview } from '../../../src/wire/console.ts'
import { ageOf, spanText, untilText } from '../../base/ages.ts'
import type { Who } from '../../client/auth/acting-side.ts'
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

/** What there is to look after. Rows stay at none, so that the others keep their places. */
export function itemsOf(overview: Overview, { kind, permissions }: Pick<Who, 'kind' | 'permissions'>): Item[] {
  const { worker, payments, kyb, disputes, deliveries, as_of: asOf } = overview
  const now = Date.parse(asOf)
  const oldest = (at: string | null): string => (at === null ? '' : `oldest ${ageOf(at, now)}`)
  const isOperator = kind === 'platform'
  const counted = (
    id: string,
    what: string,
    count: number,
    rest: Pick<Item, 'state' | 'detail' | 'leadsTo'> & { filter?: string },
  ): Item => ({
    id,
    what,
    overview,
    count: many(count),
    ...rest,
    ...(count === 0 ? { state: 'good' as const, detail: '' } : {}),
  })
  const disputed = (id: string, what: string, count: number, filter: string, rest: Pick<Item, 'state' | 'detail'>) =>
    counted(id, what, count, { ...rest, leadsTo: 'disputes', filter })
  const due = disputes.next_evidence_due_at
  const evidence = due === null ? '' : `evidence due ${untilText(due, now)}`
  // An OPEN one waits for its merchant, the others for the platform.
  const ofPlatform = isOperator ? ('act' as const) : ('good' as const)
  const waits = isOperator ? '' : 'the platform decides'
  const lagState = worker.lag_ms >= LAG_ACT_MS ? 'act' : worker.lag_ms >= LAG_LOOK_MS ? 'look' : 'good'
  return [
    ...(kyb === null
      ? []
      : [
          counted('kyb', 'KYB waiting', kyb.pending, {
            state: 'act',
            detail: oldest(kyb.oldest_pending_at),
            leadsTo: 'kyb',
          }),
        ]),
    disputed('disputes', 'Disputes open', disputes.open, 'OPEN', {
      state: isOperator ? 'look' : 'act',
      detail: [evidence, oldest(disputes.oldest_open_at)].filter((text) => text !== '').join(', '),
    }),
    disputed('review', 'Disputes in review', disputes.under_review, 'UNDER_REVIEW', {
      state: ofPlatform,
      detail: waits,
    }),
    disputed('escalated', 'Disputes escalated', disputes.escalated, 'ESCALATED', {
      state: ofPlatform,
      detail: isOperator ? 'for an OWNER' : waits,
    }),
    ...(isOperator || permissions.includes('manage webhooks')
      ? [
          counted('dead', 'Webhooks dead', deliveries.dead, {
            state: 'act',
            detail: 'they wait for a replay',
            leadsTo: 'webhooks',
            filter: 'DEAD',
          }),
          counted('pending', 'Webhooks pending', deliveries.pending, {
            state: 'good',
            detail: oldest(deliveries.oldest_due_at),
            leadsTo: 'webhooks',
            filter: 'PENDING',
          }),
        ]
      : []),
    {
      id: 'worker',
      what: 'Worker behind',
      overview,
      count: lagState === 'good' ? '-' : spanText(worker.lag_ms),
      detail: lagState === 'good' ? '' : 'svc doctor',
      state: lagState,
      leadsTo: undefined,
    },
    ...PaymentStatus.options.map((status) =>
      counted(status, `Payments ${status}`, payments.by_status[status], {
        state: 'good',
        detail: 'in 24 h',
        leadsTo: 'payments',
        filter: status,
      }),
    ),
  ]
}

const COUNTED_MAX = 10_000

function many(count: number): string {
  return count >= COUNTED_MAX ? `${COUNTED_MAX}+` : String(count)
}
