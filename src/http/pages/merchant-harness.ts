import type { ZodError } from 'zod'
import type { App } from '../../app.ts'
import { DomainError } from '../../lib/errors.ts'
import { html } from '../../lib/html.ts'
import { identifyMerchant } from '../../merchants/identify.ts'
import { createPayment } from '../../payments/create-payment.ts'
import { IdempotencyKey } from '../../wire/common.ts'
import { CreatePayment } from '../../wire/new-payment.ts'
import type { CreatedPayment } from '../../wire/payments.ts'
import { DEMO_CLIENT_ID, HARNESS_BRAND, HARNESS_PATH, RETURN_PATHS, harnessForm } from './harness-form.ts'
import { demoMoney } from './harness-money.ts'
import { ruleProblems } from './harness-problems.ts'
import { page, seeOther } from './page.ts'
import type { PageReply } from './page.ts'
import { when } from './time-text.ts'

/** GET /dev/merchant-harness. */
export async function harnessPage(app: App): Promise<PageReply> {
  return harnessForm(app, { below: await demoMoney(app, DEMO_CLIENT_ID) })
}

/** The page for a form that a foreign page has sent. */
export function foreignForm(): PageReply {
  const content = html`<h1>This form was sent from elsewhere</h1>
<p>Payments are made with this service's own page only. Nothing was created.</p>
<a class="next" href="${HARNESS_PATH}">Open the page</a>`
  return page(403, { brand: HARNESS_BRAND, title: 'This form was sent from elsewhere', content })
}

/** Creates the payment of the form, and redirects the browser to its bank or shows the link. */
export async function submitHarness(app: App, form: URLSearchParams): Promise<PageReply> {
  const values = Object.fromEntries(form)
  const again = (problems: readonly string[]): PageReply => harnessForm(app, { values, problems })
  const merchant = await identifyMerchant(app, values['client_id'] ?? '')
  const key = IdempotencyKey.safeParse(values['idempotency_key'] || app.ids.uuid())
  const body = CreatePayment.safeParse(bodyOf(app, values))
  const problems = [
    ...(merchant === null ? ['client id: no merchant has it'] : []),
    ...(key.success ? [] : ['idempotency key: must be 1 to 255 printable ASCII characters']),
    ...(body.success ? ruleProblems(app, body.data) : issueTexts(body.error)),
  ]
  if (merchant === null || !key.success || !body.success || problems.length > 0) return again(problems)
  try {
    const { payment } = await createPayment(app, {
      merchant: { id: merchant.merchant_id, tradingName: merchant.trading_name },
      idempotencyKey: key.data,
      body: body.data,
      rawBody: JSON.stringify(body.data),
    })
    const bank = bankPage(payment, values)
    return values['auto_redirect'] === undefined || bank === null ? created(payment, bank) : seeOther(bank)
  } catch (failure) {
    if (!(failure instanceof DomainError)) throw failure
    return again([failure.message])
  }
}

function issueTexts({ issues }: ZodError): string[] {
  return issues.map(({ path, message }) => `${path.join('.')}: ${message}`)
}

/** The request of a shop's server; empty fields are left out. */
function bodyOf(app: App, values: Readonly<Record<string, string>>): Record<string, unknown> {
  const path = RETURN_PATHS.find((each) => each === values['return_to']) ?? RETURN_PATHS[0]
  return {
    amount: values['amount'],
    currency: values['currency'],
    redirect_uri: app.publicUrl + path,
    ...(values['bank'] ? { debtor_bank_id: values['bank'] } : {}),
    ...(values['scenario'] ? { scenario: values['scenario'] } : {}),
    ...(values['mandate'] === undefined
      ? {}
      : {
          consent_type: 'VARIABLE_RECURRING',
          control_parameters: { max_amount_per_payment: values['max_per_payment'] },
        }),
  }
}

/** The bank's page, or its full login if requested (decision 53). */
function bankPage({ redirect_url }: CreatedPayment, values: Readonly<Record<string, string>>): string | null {
  if (redirect_url === null || values['full_sca'] === undefined) return redirect_url
  const url = new URL(redirect_url)
  url.searchParams.set('sca', 'full')
  return url.href
}

function created(payment: CreatedPayment, bank: string | null): PageReply {
  const { currency } = payment
  const content = html`<h1>Payment created</h1>
<p class="amount">${payment.gross_amount} ${currency}</p>
<dl>
<div><dt>Payment</dt><dd>${payment.payment_id}</dd></div>
<div><dt>Status</dt><dd>${payment.status}</dd></div>
<div><dt>Reference</dt><dd>${payment.end_to_end_id}</dd></div>
<div><dt>Consent</dt><dd>${payment.consent_id}</dd></div>
<div><dt>Fee</dt><dd>${payment.fee_amount} ${currency}</dd></div>
<div><dt>Net</dt><dd>${payment.net_amount} ${currency}</dd></div>
<div><dt>Waits for the payer until</dt><dd>${when(payment.expires_at)}</dd></div>
</dl>
${bank === null ? html`<p>It has no bank page yet.</p>` : html`<a class="next" href="${bank}">Go to the bank</a>`}
<a class="next" href="${HARNESS_PATH}">Take another payment</a>`
  return page(200, { brand: HARNESS_BRAND, title: 'Payment created', content })
}
