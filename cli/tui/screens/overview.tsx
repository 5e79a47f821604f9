import { getOverview, getPortalOverview } from '../../../src/wire/console.ts'
import { call } from '../../client.ts'
import { line } from '../lines.ts'
import type { Line } from '../lines.ts'
import { screen } from '../screen.ts'
import type { Layout } from '../screen.ts'
import { isUtf8, sparkline } from '../sparkline.ts'
import { roundedText } from './money-text.ts'
import { itemsOf, workerLines } from './overview-items.ts'
import type { Item } from './overview-items.ts'

const WORD: Readonly<Record<Item['state'], string>> = { good: 'ok', look: 'look', act: 'act' }
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
  columns: () => [
    { title: 'what', value: ({ what }) => what },
    { title: 'count', value: ({ count }) => count, align: 'right' },
    {
      title: '',
      value: ({ state }) => WORD[state],
      style: (text) => (text === 'ok' ? 'green' : text === 'act' ? 'red' : 'yellow'),
    },
    { title: '', value: ({ detail }) => detail, least: 16 },
  ],
  empty: 'Nothing is known yet.',
  open: ({ leadsTo, filter, what, count }, { go, show }) =>
    leadsTo === undefined ? show(what, workerLines(count)) : go(leadsTo, filter === undefined ? {} : { filter }),
  keys: [],
})

/** The payments of the last hour as bars, and the money of today. */
function head(rows: readonly Item[], { width }: Layout): readonly Line[] {
  const seen = rows[0]?.overview
  if (seen === undefined) return []
  const { per_minute: perMinute } = seen.payments
  const total = perMinute.reduce((sum, each) => sum + each, 0)
  const label = ' Last hour  '
  const tail = `  ${total} payments`
  const bars = sparkline(perMinute, { width: width - label.length - tail.length - 1, utf8: isUtf8(process.env) })
  const money = seen.money_today.map(
    ({ currency, count, gross_amount: gross, fee_amount: fee, net_amount: net }): Line => [
      { text: ' Today      ', tone: 'dim' },
      { text: `${roundedText(gross, currency)} ${currency}`, tone: 'bold' },
      { text: ` settled in ${count}, fees ${roundedText(fee, currency)}, net ${roundedText(net, currency)}` },
    ],
  )
  return [
    [{ text: label, tone: 'dim' }, { text: bars, tone: 'info' }, { text: tail }],
    ...(money.length === 0 ? [line(' Today      nothing settled yet', 'dim')] : money),
    line(''),
  ]
}
