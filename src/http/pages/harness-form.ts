import type { App } from '../../app.ts'
import { SCENARIO_NAMES } from '../../banks/scenarios.ts'
import { html } from '../../lib/html.ts'
import type { Html } from '../../lib/html.ts'
import { SUCCESS_PATH } from './merchant-success.ts'
import { page } from './page.ts'
import type { PageReply } from './page.ts'

export const HARNESS_PATH = '/dev/merchant-harness'
export const HARNESS_BRAND = 'Merchant harness'

/** The return addresses of the harness's shop. */
export const RETURN_PATHS = ['/payments/return', SUCCESS_PATH] as const

/** The merchant that `svc up` makes. */
export const DEMO_CLIENT_ID = 'demo-server'

const DEFAULTS = {
  amount: '50.00',
  currency: 'GBP',
  client_id: DEMO_CLIENT_ID,
  max_per_payment: '100.00',
  auto_redirect: 'on',
}

type Values = Readonly<Record<string, string>>

/** The form of /dev/merchant-harness: the shop's side of a payment, for testing the whole flow in a browser. */
export function harnessForm(
  app: Pick<App, 'publicUrl' | 'catalogue'>,
  {
    values = DEFAULTS,
    problems = [],
    below,
  }: { values?: Values; problems?: readonly string[]; below?: Html | undefined },
): PageReply {
  const value = (name: string): string => values[name] ?? ''
  const content = html`<h1>Take a payment</h1>
${problems.length === 0 ? undefined : html`<p class="problem" role="alert">${problems.join('; ')}</p>`}
<form method="post" action="${HARNESS_PATH}">
<label>Amount <input name="amount" inputmode="decimal" value="${value('amount')}"></label>
<label>Currency <input name="currency" value="${value('currency')}"></label>
<label>Merchant client id <input name="client_id" value="${value('client_id')}"></label>
<label>Idempotency key <input name="idempotency_key" placeholder="a new one for each payment" value="${value('idempotency_key')}"></label>
<label>Bank <select name="bank">
${option('', 'The payer chooses no bank', value('bank'))}
${app.catalogue.list.map(({ id, name }) => option(id, name, value('bank')))}
</select></label>
<label>Scenario <select name="scenario">
${option('', "The bank's own", value('scenario'))}
${SCENARIO_NAMES.map(complete).map((name) => option(name, name, value('scenario')))}
</select></label>
<label>Come back to <select name="return_to">
${RETURN_PATHS.map((path) => option(path, path, value('return_to')))}
</select></label>
${tick('auto_redirect', 'Go to the bank at once', values)}
${tick('full_sca', "Sign in with the bank's full login", values)}
<fieldset>
<legend>Mandate</legend>
${tick('mandate', 'Set up a mandate for more payments', values)}
<label>At most, for each payment of the mandate <input name="max_per_payment" inputmode="decimal" value="${value('max_per_payment')}" aria-describedby="mandate-hint"></label>
<span class="hint" id="mandate-hint">Only used if the box above is ticked; otherwise this is a single payment.</span>
</fieldset>
<button class="main" type="submit">Pay by bank</button>
</form>
<p class="note">The same with the checkout of a shop's page: <a href="/widget-demo.html">the widget's demo</a>.</p>
${below}`
  return page(problems.length === 0 ? 200 : 400, {
    brand: HARNESS_BRAND,
    title: HARNESS_BRAND,
    content,
    // Chromium also checks the redirect after a form against form-action, and it leads to the public address.
    formTarget: `'self' ${new URL(app.publicUrl).origin}`,
    // Without it, browsers would not send the form's origin; the page's address has no secret.
    referrer: 'same-origin',
  })
}

/** A scenario with a parameter needs an example value to be complete. */
function complete(name: string): string {
  return name.replace(/<dur(ation)?>/, '10s').replace(/<reason>/, 'OTHER')
}

function option(value: string, text: string, chosen: string): Html {
  return value === chosen
    ? html`<option value="${value}" selected>${text}</option>`
    : html`<option value="${value}">${text}</option>`
}

function tick(name: string, text: string, values: Values): Html {
  const box =
    values[name] === undefined
      ? html`<input type="checkbox" name="${name}" value="on">`
      : html`<input type="checkbox" name="${name}" value="on" checked>`
  return html`<label class="tick">${box} ${text}</label>`
}
