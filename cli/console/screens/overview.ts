import { getOverview, getPortalOverview } from '../../../src/wire/console.ts'
import { call } from '../../client/call.ts'
import { line, lineWidth, isUtf8 } from '../lines.ts'
import type { Line } from '../lines.ts'
import { screen } from '../screen.ts'
import type { Layout } from '../screen.ts'
import { roundedText } from '../../base/money-text.ts'
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
  /** Without a place the text says what to do. */
  leadsTo: ScreenName | undefined
  filter?: string
  overview: Overview
}

// An operator looks when work has been due for so long that the worker should have taken it.
const LAG_LOOK_MS = 5_000
const LAG_ACT_MS = 60_000

/** Its id, what it is, how many there are, and if there are any: how urgent it is, a detail, and where it is dealt with. */
type Row = readonly [string, string, number, Item['state'], string, ScreenName, filter?: string]

/** What there is to look after. Rows stay at none, so that the others keep their places. */
export function itemsOf(overview: Overview, { kind, permissions }: Pick<Who, 'kind' | 'permissions'>): Item[] {
  const { worker, payments, kyb, disputes, deliveries, as_of: asOf } = overview
  const now = Date.parse(asOf)
  const oldest = (at: string | null): string => (at === null ? '' : `oldest ${ageOf(at, now)}`)
  const isOperator = kind === 'platform'
  const due = disputes.next_evidence_due_at
  const evidence = due === null ? '' : `evidence due ${untilText(due, now)}`
  const open = [evidence, oldest(disputes.oldest_open_at)].filter((text) => text !== '').join(', ')
  // An OPEN one waits for its merchant, the others for the platform.
  const ofPlatform = isOperator ? 'act' : 'good'
  const waits = isOperator ? '' : 'the platform decides'
  const escalated = isOperator ? 'for an OWNER' : waits
  const lagState = worker.lag_ms >= LAG_ACT_MS ? 'act' : worker.lag_ms >= LAG_LOOK_MS ? 'look' : 'good'
  const ofWebhooks: Row[] = [
    ['dead', 'Webhooks dead', deliveries.dead, 'act', 'they wait for a replay', 'webhooks', 'DEAD'],
    [
      'pending',
      'Webhooks pending',
      deliveries.pending,
      'good',
      oldest(deliveries.oldest_due_at),
      'webhooks',
      'PENDING',
    ],
  ]
  const rows: Row[] = [
    ...(kyb === null
      ? []
      : [['kyb', 'KYB waiting', kyb.pending, 'act', oldest(kyb.oldest_pending_at), 'kyb'] satisfies Row]),
    ['disputes', 'Disputes open', disputes.open, isOperator ? 'look' : 'act', open, 'disputes', 'OPEN'],
    ['review', 'Disputes in review', disputes.under_review, ofPlatform, waits, 'disputes', 'UNDER_REVIEW'],
    ['escalated', 'Disputes escalated', disputes.escalated, ofPlatform, escalated, 'disputes', 'ESCALATED'],
    ...(isOperator || permissions.includes('manage webhooks') ? ofWebhooks : []),
  ]
  const itemOf = ([id, what, count, state, detail, leadsTo, filter]: Row): Item => ({
    id,
    what,
    overview,
    leadsTo,
    count: count >= COUNTED_MAX ? `${COUNTED_MAX}+` : String(count),
    ...(filter === undefined ? {} : { filter }),
    ...(count === 0 ? { state: 'good', detail: '' } : { state, detail }),
  })
  const lag =
    lagState === 'good' ? { count: '-', detail: '' } : { count: spanText(worker.lag_ms), detail: 'svc doctor' }
  return [
    ...rows.map(itemOf),
    { id: 'worker', what: 'Worker behind', overview, state: lagState, leadsTo: undefined, ...lag },
    ...PaymentStatus.options.map((status) =>
      itemOf([status, `Payments ${status}`, payments.by_status[status], 'good', 'in 24 h', 'payments', status]),
    ),
  ]
}

const COUNTED_MAX = 10_000

const BARS = '▁▂▃▄▅▆▇█'
const ASCII = '_.-=+*#@'

/** Numbers as a row of bars, at most `width` of them: of more, neighbours are added up. */
export function sparkline(numbers: readonly number[], { width, utf8 }: { width: number; utf8: boolean }): string {
  const bars = utf8 ? BARS : ASCII
  const per = Math.max(1, Math.ceil(numbers.length / Math.max(1, width)))
  const sums: number[] = []
  for (let at = 0; at < numbers.length; at += per)
    sums.push(numbers.slice(at, at + per).reduce((sum, each) => sum + each, 0))
  const most = Math.max(...sums, 1)
  const last = bars.length - 1
  return sums.map((sum) => (sum === 0 ? bars[0] : bars[Math.max(1, Math.round((sum / most) * last))])).join('')
}

const WORD: Readonly<Record<Item['state'], string>> = { good: 'ok', look: 'look', act: 'act' }
/** From so many columns on there is room for whole names beside the text. */
const ROOMY = 80

export const overview = screen<Item>({
  name: 'overview',
  key: '1',
  title: 'Overview',
  short: 'Over',
  reads: ['read merchants', 'read payments'],
  list: {
    async read({ client, who }) {
      const { body } = await call(client, who.kind === 'platform' ? getOverview : getPortalOverview, {})
      return { rows: itemsOf(body, who), next: null }
    },
    isDirty: () => true,
  },
  id: ({ id }) => id,
  head,
  columns: ({ width }) => [
    { title: 'what', value: ({ what }) => (width < ROOMY ? what.replace(/^Payments /, '') : what) },
    { title: 'count', value: ({ count }) => count, align: 'right' },
    {
      title: '',
      value: ({ state }) => WORD[state],
      floor: 4,
      style: (text) => (text === 'ok' ? 'green' : text === 'act' ? 'red' : 'yellow'),
    },
    { title: '', value: ({ detail }) => detail, least: 16 },
  ],
  empty: 'Nothing is known yet.',
  open: ({ leadsTo, filter }, { go, say }) =>
    leadsTo === undefined
      ? say('svc status and svc doctor say more of the worker')
      : go(leadsTo, filter === undefined ? {} : { filter }),
  keys: [],
})

function head(rows: readonly Item[], { width }: Layout): readonly Line[] {
  const seen = rows[0]?.overview
  if (seen === undefined) return []
  const { per_minute: perMinute } = seen.payments
  const total = perMinute.reduce((sum, each) => sum + each, 0)
  const label = ' Last hour  '
  const tail = `  ${total} payments`
  const most = Math.max(...perMinute)
  const said = `${total} payments${most <= 0 ? '' : `, at most ${most} in a minute`}`
  const bars = sparkline(perMinute, { width: width - label.length - tail.length - 1, utf8: isUtf8(process.env) })
  const money = seen.money_today.map((each) => moneyLine(each, width))
  return [
    [
      { text: label, tone: 'dim' },
      { text: bars, tone: 'info', said },
      { text: tail, said: '' },
    ],
    ...(money.length === 0 ? [line(' Today      nothing settled yet', 'dim')] : money),
    line(''),
  ]
}

type Money = NonNullable<Item['overview']>['money_today'][number]

function moneyLine({ currency, count, ...amounts }: Money, width: number): Line {
  const [gross, fee, net] = [amounts.gross_amount, amounts.fee_amount, amounts.net_amount].map((amount) =>
    roundedText(amount, currency),
  )
  const lineOf = (settled: string): Line => [
    { text: ' Today      ', tone: 'dim' },
    { text: `${gross} ${currency}`, tone: 'bold' },
    { text: `${settled} in ${count}, fees ${fee}, net ${net}` },
  ]
  const whole = lineOf(' settled')
  return lineWidth(whole) <= width ? whole : lineOf('')
}
