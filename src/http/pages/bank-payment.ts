import type { PayingAccounts } from '../../banks/mock-paying-account.ts'
import { mockBankById } from '../../banks/catalogue.ts'
import type { MockBankRequest } from '../../banks/mock-request.ts'
import { html } from '../../lib/html.ts'
import type { Html } from '../../lib/html.ts'
import { moneyText } from './money-text.ts'
import { dayOf } from './time-text.ts'

/** The amount of a request, as payers read it. */
export function amountOf({ amount, currency }: MockBankRequest): string {
  return moneyText(amount, currency)
}

export type PaymentPageOptions = {
  named: PayingAccounts['named']
  /** Whether the service holds payments against the limits of their mandate (decision 49). */
  areCapsEnforced: boolean
}

/** The payment to approve: payee, amount, and the terms of a mandate. */
export function paymentFacts(request: MockBankRequest, { named, areCapsEnforced }: PaymentPageOptions): Html {
  const { debtorBankId } = request
  return html`<p class="amount">${amountOf(request)}</p>
<dl>
<div><dt>To</dt><dd>${request.payeeName}</dd></div>
<div><dt>Reference</dt><dd>${request.endToEndId}</dd></div>
${debtorBankId === undefined ? undefined : html`<div><dt>Your bank</dt><dd>${mockBankById(debtorBankId)?.name ?? debtorBankId}</dd></div>`}
${named === null ? undefined : html`<div><dt>From</dt><dd>your account ending ${named.number.slice(-4)}</dd></div>`}
</dl>
${mandateTerms(request, areCapsEnforced)}`
}

/** The accounts that the payer can choose from, and the problem of the one that the payment names. */
export function accountChoice({ offered, failure }: PayingAccounts): Html {
  return html`${
    failure === null
      ? undefined
      : html`<p role="note">The account that the payment names can't pay: ${failure.problem}. Approve it, and it fails with ${failure.code}.</p>
`
  }${
    offered.length === 0
      ? undefined
      : html`<label for="account">Pay from</label>
<select id="account" name="account">
<option value="">An account at another bank</option>
${offered.map((account) => html`<option value="${account.id}">${accountText(account)}</option>`)}
</select>`
  }`
}

/** Anyone with the link sees the page, so it shows no balance. */
function accountText({ name, number }: PayingAccounts['offered'][number]): string {
  return `${name}, ending ${number.slice(-4)}`
}

const PERIODS = {
  DAY: 'each day',
  WEEK: 'each week',
  FORTNIGHT: 'each two weeks',
  MONTH: 'each month',
  HALF_YEAR: 'each half-year',
  YEAR: 'each year',
}

/** The terms of the mandate. */
function mandateTerms({ mandate, currency, payeeName }: MockBankRequest, areCapsEnforced: boolean): Html | undefined {
  if (mandate === undefined) return undefined
  const most = (amount: string): string => moneyText(amount, currency)
  return html`<h2>And payments after it</h2>
<p>${payeeName} may take further payments from your account without asking you each time. You can end this whenever you
want.</p>
<dl>
<div><dt>At most, each payment</dt><dd>${most(mandate.maxAmountPerPayment)}</dd></div>
${mandate.limits.map(
  ({ period, alignment, maxAmount }) =>
    html`<div><dt>At most, ${PERIODS[period]}${alignment === 'CONSENT' ? ', counted from today' : ''}</dt><dd>${most(maxAmount)}</dd></div>
`,
)}<div><dt>Until</dt><dd>${dayOf(mandate.validTo)}</dd></div>
</dl>
${areCapsEnforced ? undefined : html`<p role="note">These limits are what you agree to. At present the payment service does not check them before each payment.</p>`}`
}
