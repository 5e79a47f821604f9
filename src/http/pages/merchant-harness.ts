import type { App } from '../../app.ts'
import { SCENARIO_NAMES } from '../../banks/scenarios.ts'
import { DomainError } from '../../lib/errors.ts'
import { identifyMerchant } from '../../merchants/identify.ts'
import { createPayment } from '../../payments/create.ts'
import { IdempotencyKey } from '../../wire/common.ts'
import { CreatePayment } from '../../wire/payments.ts'
import { html } from '../../lib/html.ts'
import { page, seeOther } from './page.ts'
import type { PageReply } from './page.ts'

const BRAND = 'Merchant harness'
const DEFAULTS = { amount: '50.00', currency: 'GBP', client_id: 'demo-server', scenario: 'success' }

/** The form of /dev/merchant-harness: a shop's side of a payment, for trying the whole way in a browser. */
export function harnessPage(values: Readonly<Record<string, string>> = DEFAULTS, problem?: string): PageReply {
  const content = html`<h1>Take a payment</h1>
${problem === undefined ? undefined : html`<p role="alert">${problem}</p>`}
<form method="post" action="/dev/merchant-harness">
<label>Amount <input name="amount" inputmode="decimal" value="${values['amount'] ?? ''}"></label>
<label>Currency <input name="currency" value="${values['currency'] ?? ''}"></label>
<label>Merchant client id <input name="client_id" value="${values['client_id'] ?? ''}"></label>
<label>Idempotency key <input name="idempotency_key" placeholder="a new one for each payment" value="${values['idempotency_key'] ?? ''}"></label>
<label>Scenario <select name="scenario">${SCENARIO_NAMES.map((name) => scenarioOption(name, values['scenario']))}</select></label>
<button class="main" type="submit">Pay by bank</button>
</form>`
  return page(problem === undefined ? 200 : 400, {
    brand: BRAND,
    title: 'Merchant harness',
    content,
    formTarget: "'self'",
  })
}

/** Creates the payment that the form describes and sends the browser to its bank. */
export async function submitHarness(app: App, form: URLSearchParams): Promise<PageReply> {
  const values = Object.fromEntries(form)
  const merchant = await identifyMerchant(app, values['client_id'] ?? '')
  if (merchant === null) return harnessPage(values, 'No merchant has this client id.')
  const key = IdempotencyKey.safeParse(values['idempotency_key'] || app.ids.uuid())
  if (!key.success) return harnessPage(values, 'The idempotency key must be 1 to 255 printable ASCII characters.')
  const parsed = CreatePayment.safeParse({
    amount: values['amount'],
    currency: values['currency'],
    redirect_uri: `${app.publicUrl}/payments/return`,
    scenario: values['scenario'],
  })
  if (!parsed.success) {
    return harnessPage(
      values,
      parsed.error.issues.map(({ path, message }) => `${path.join('.')}: ${message}`).join('; '),
    )
  }
  try {
    const { payment } = await createPayment(app, {
      merchant: { id: merchant.merchant_id, tradingName: merchant.trading_name },
      idempotencyKey: key.data,
      body: parsed.data,
      rawBody: JSON.stringify(parsed.data),
    })
    return seeOther(payment.redirect_url ?? '/dev/merchant-harness')
  } catch (failure) {
    if (!(failure instanceof DomainError)) throw failure
    return harnessPage(values, failure.message)
  }
}

function scenarioOption(name: string, chosen: string | undefined) {
  // A form of the name that takes a parameter needs one to be complete.
  const value = name.includes('<') ? name.replace(/<dur(ation)?>/, '10s').replace(/<reason>/, 'OTHER') : name
  return value === chosen ? html`<option selected>${value}</option>` : html`<option>${value}</option>`
}
