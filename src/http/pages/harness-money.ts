import type { App } from '../../app.ts'
import { explain } from '../../explain/explain.ts'
import { getBalances } from '../../ledger/get-balances.ts'
import { html } from '../../lib/html.ts'
import type { Html } from '../../lib/html.ts'
import { formatSum } from '../../lib/money.ts'
import { identifyMerchant } from '../../merchants/identify.ts'
import type { PaymentRecord } from '../../payments/record.ts'
import { listPayouts } from '../../payouts/list-payouts.ts'
import { listSettlements } from '../../settlements/list-settlements.ts'
import { moneyText } from './money-text.ts'
import { when } from './time-text.ts'

/** How many settlements and payouts are shown. */
const NEWEST = 5

/**
 * Balances, newest settlements and newest payouts of the demo merchant. The page asks for no credential, so no other
 * merchant's are shown. Undefined where there is none.
 */
export async function demoMoney(app: App, clientId: string): Promise<Html | undefined> {
  const merchant = await identifyMerchant(app, clientId)
  if (merchant === null) return undefined
  const { merchant_id: merchantId, trading_name: name } = merchant
  const query = { limit: NEWEST }
  const [balances, settlements, payouts] = await Promise.all([
    getBalances(app, merchantId),
    listSettlements(app, { merchantId, query }),
    listPayouts(app, { merchantId, query }),
  ])
  return html`<h2>Money of ${name}</h2>
${balances.length === 0 ? html`<p>No payment has settled yet.</p>` : undefined}
<dl>
${balances.map(({ currency, accounts: { clearing, merchant_payable: payable, payouts_in_transit: sent } }) => {
  const text = (amount: string): string => moneyText(formatSum([amount], currency), currency)
  return row(
    `Balance in ${currency}`,
    html`${text(clearing)} in the open period, ${text(payable)} to be paid out, ${text(sent)} on its way`,
  )
})}
${settlements.rows.map((each) => row(html`Settlement until ${when(each.period_to)}`, html`${moneyText(each.net_amount, each.currency)} ${each.status} <code>${each.settlement_id}</code>`))}
${payouts.rows.map((each) => row(html`Payout of ${when(each.created_at)}`, html`${moneyText(each.amount, each.currency)} ${each.status} <code>${each.id}</code>`))}
</dl>`
}

/** Where the money of a settled payment is: its settlement, and the payout that pays it. */
export async function moneyOfPayment(
  app: App,
  { id, merchant_id: merchantId, status }: Pick<PaymentRecord, 'id' | 'merchant_id' | 'status'>,
): Promise<Html | undefined> {
  if (status !== 'Settled' && status !== 'Refunded') return undefined
  const { standing } = await explain(app, { id, viewer: { side: 'merchant', merchantId, can: () => true } })
  return row('Where the money is', html`${standing}`)
}

function row(name: string | Html, value: Html): Html {
  return html`<div><dt>${name}</dt><dd>${value}</dd></div>`
}
