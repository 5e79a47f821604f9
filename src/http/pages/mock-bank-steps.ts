import type { PayingAccounts } from '../../banks/mock-paying-account.ts'
import { parseScenario } from '../../banks/scenarios.ts'
import { html } from '../../lib/html.ts'
import type { Html } from '../../lib/html.ts'
import { accountChoice, amountOf, paymentFacts } from './bank-payment.ts'
import type { Link } from './bank-link.ts'
import { page } from './page.ts'
import type { PageReply } from './page.ts'

const BRAND = 'Mock Bank'

/** The credentials are shown on the page, because they open only the mock bank. */
export type Credentials = Readonly<{ username: string; password: string; code: string }>

/** The first step. It repeats neither the password nor the user name of a failed attempt. */
export function askPassword(link: Link, { username, password }: Credentials, problem?: string): PageReply {
  const content = html`<h1>Sign in to pay ${link.request.payeeName}</h1>
${alert(problem)}
<p>${amountOf(link.request)} to ${link.request.payeeName}.</p>
${form(
  link,
  html`<label>User name <input name="username" autocomplete="off" autocapitalize="none" spellcheck="false" required></label>
<label>Password <input name="password" type="password" autocomplete="off" required></label>
<button class="main" type="submit">Sign in</button>`,
)}
${cancelForm(link)}
<p class="note">A test bank: no real money moves, and your own bank's password has no place here. Sign in as
<code>${username}</code> with the password <code>${password}</code>. With the same password, the user name may also be
a scenario's name, such as <code>insufficient-funds</code>: the payment then goes that way.</p>`
  return step(link, { status: problem === undefined ? 200 : 400, title: 'Sign in', content })
}

/** The second step; `triesLeft` after a wrong code. */
export function askCode(
  link: Link,
  { login, credentials, triesLeft }: { login: string; credentials: Credentials; triesLeft?: number },
): PageReply {
  const problem =
    triesLeft === undefined
      ? undefined
      : `The code is wrong. ${triesLeft === 1 ? 'One try is' : `${triesLeft} tries are`} left before the bank rejects the payment.`
  const content = html`<h1>Enter your one-time code</h1>
${alert(problem)}
${form(
  link,
  html`<input type="hidden" name="login" value="${login}">
<label>One-time code <input name="code" inputmode="numeric" autocomplete="one-time-code" maxlength="16" required></label>
<button class="main" type="submit">Confirm</button>`,
)}
${cancelForm(link)}
<p class="note">A test bank sends no code: it is always <code>${credentials.code}</code>.</p>`
  return step(link, { status: problem === undefined ? 200 : 400, title: 'One-time code', content })
}

/** The last step: approving the payment, from a chosen account. */
export function askApproval(
  link: Link,
  { login, accounts, areCapsEnforced }: { login: string; accounts: PayingAccounts; areCapsEnforced: boolean },
): PageReply {
  const { request } = link
  const content = html`<h1>Pay ${request.payeeName}</h1>
${paymentFacts(request, { named: accounts.named, areCapsEnforced })}
${form(
  link,
  html`<input type="hidden" name="login" value="${login}">
${accountChoice(accounts)}
<button class="main" type="submit" name="decision" value="approve">Approve ${amountOf(request)}</button>
<button type="submit" name="decision" value="cancel">Cancel and go back</button>`,
)}
<p class="note">Scenario ${request.scenario}: ${parseScenario(request.scenario).behaviour.summary}</p>`
  return step(link, { status: 200, title: `Pay ${request.payeeName}`, content })
}

function form({ signed }: Link, fields: Html): Html {
  return html`<form method="post" action="/dev/mock-bank-sca">
<input type="hidden" name="request" value="${signed}">
${fields}
</form>`
}

/** A form of its own, so that required fields do not prevent cancelling. */
function cancelForm(link: Link): Html {
  return form(link, html`<button type="submit" name="decision" value="cancel">Cancel and go back</button>`)
}

function alert(problem: string | undefined): Html | undefined {
  return problem === undefined ? undefined : html`<p class="problem" role="alert">${problem}</p>`
}

/** Chromium also checks the redirect after a form against form-action. */
function step(
  { target }: Link,
  { status, title, content }: { status: number; title: string; content: Html },
): PageReply {
  const formTarget = `'self' ${target.origin}`
  return page(status, { brand: BRAND, title: `${title} - Mock Bank`, content, formTarget })
}
