import { getOverview, getPortalOverview } from '../../../src/wire/console.ts'
import { call } from '../../client/call.ts'
import { line, lineWidth } from '../lines.ts'
import type { Line } from '../lines.ts'
import { screen } from '../screen.ts'
import type { Layout } from '../screen.ts'
import { isUtf8, sparkline } from '../sparkline.ts'
import { roundedText } from '../../base/money-text.ts'
import { itemsOf } from './overview-items.ts'
import type { Item } from './overview-items.ts'

const WORD: Readonly<Record<Item['state'], string>> = { good: 'ok', look: 'look', act: 'act' }
/** From so many columns on there is room for whole names beside what is told of them. */
const ROOMY = 80

/** How things stand, in one look. */
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

/** The money of one currency: what came, what it cost and what is left; where there is little room, in fewer words. */
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
