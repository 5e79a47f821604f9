import type { App } from '../../app.ts'
import { DomainError } from '../../lib/errors.ts'
import { formatNumeric } from '../../lib/money.ts'
import { completeSca } from '../../payments/complete-sca.ts'
import { findWithState } from '../../payments/payer-access.ts'
import { readPayment } from '../../payments/read.ts'
import type { PaymentWithHistory } from '../../payments/record.ts'
import { ScaComplete } from '../../wire/payments.ts'
import { presentFailure } from '../handlers/present-payment.ts'
import { html } from '../../lib/html.ts'
import type { Html } from '../../lib/html.ts'
import { page, seeOther } from './page.ts'
import type { PageReply } from './page.ts'

const BRAND = 'Payment'

/** Between two looks at a payment that has not ended, and how long the page looks by itself (decision 63). */
const REFRESH_SECONDS = 1
const LOOKING_MS = 120_000

/**
 * Where the bank sends the payer back to (specification, Development and test routes: /payments/return). Completes the
 * authorisation with what the bank gave, then shows the payment until it has ended, and at last its receipt. The address
 * loses the code before anything is shown, so that loading the page again repeats nothing.
 */
export async function returnPage(app: App, query: URLSearchParams): Promise<PageReply> {
  const state = query.get('state') ?? ''
  const payment = await findWithState(app, state)
  if (payment === null) return unknownPayment()
  const code = query.get('code')
  const error = query.get('error')
  if (code === null && error === null) {
    return show(await readPayment(app, { merchantId: payment.merchant_id, id: payment.id }))
  }
  const body = ScaComplete.safeParse(code === null ? { state, error } : { state, code })
  if (!body.success) return unknownPayment()
  try {
    await completeSca(app, { id: payment.id, body: body.data, rawBody: JSON.stringify(body.data) })
  } catch (failure) {
    if (!(failure instanceof DomainError)) throw failure
    if (failure.code !== 'CONSENT_EXPIRED') return refused(failure, failure.code === 'BANK_UNAVAILABLE')
  }
  return seeOther(`/payments/return?${new URLSearchParams({ state })}`)
}

function show(payment: PaymentWithHistory): PageReply {
  const amount = `${formatNumeric(payment.gross_amount, payment.currency)} ${payment.currency}`
  const failure = presentFailure(payment)
  const ended = payment.status === 'Settled' || payment.status === 'Refunded' || payment.status === 'Failed'
  const looking = !ended && Date.now() - Date.parse(payment.updated_at) < LOOKING_MS
  const heading = failure === null ? (ended ? 'Paid' : 'Waiting for your bank') : 'Not paid'
  const content = html`<h1>${heading}</h1>
<p class="amount">${amount}</p>
${failure === null ? undefined : html`<p>${failure.reason}.</p>`}
<dl>
<div><dt>Status</dt><dd>${payment.status}</dd></div>
<div><dt>Reference</dt><dd>${payment.end_to_end_id}</dd></div>
${feeRows(payment)}
${history(payment)}
</dl>
${ended || looking ? undefined : html`<p><a href="">Check again</a></p>`}`
  return page(200, {
    brand: BRAND,
    title: heading,
    content,
    ...(looking ? { refreshSeconds: REFRESH_SECONDS } : {}),
  })
}

function feeRows({ fee_amount, net_amount, currency }: PaymentWithHistory): Html {
  return html`<div><dt>Fee (paid by the merchant)</dt><dd>${formatNumeric(fee_amount, currency)} ${currency}</dd></div>
<div><dt>Merchant receives</dt><dd>${formatNumeric(net_amount, currency)} ${currency}</dd></div>`
}

function history({ status_history }: PaymentWithHistory): Html[] {
  return status_history.map((change) => html`<div><dt>${change.created_at}</dt><dd>${change.new_status}</dd></div>`)
}

function refused(failure: DomainError, tryAgain: boolean): PageReply {
  const content = html`<h1>Not confirmed yet</h1>
<p>${failure.message}.${tryAgain ? ' This page tries again by itself.' : ''}</p>`
  return page(tryAgain ? 502 : 400, {
    brand: BRAND,
    title: 'Not confirmed yet',
    content,
    ...(tryAgain ? { refreshSeconds: 2 } : {}),
  })
}

function unknownPayment(): PageReply {
  const content = html`<h1>This link can't be used</h1>
<p>It belongs to no payment, or to one that ended a while ago. Ask the shop about your payment.</p>`
  return page(404, { brand: BRAND, title: "This link can't be used", content })
}
