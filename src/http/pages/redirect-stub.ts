import type { DecisionOutcome, MockBank } from '../../banks/mock.ts'
import type { PayingAccounts } from '../../banks/mock-paying-account.ts'
import type { MockBankRequest } from '../../banks/mock-request.ts'
import { parseScenario } from '../../banks/scenarios.ts'
import { html } from '../../lib/html.ts'
import type { Html } from '../../lib/html.ts'
import { formatNumeric } from '../../lib/money.ts'
import { page, seeOther } from './page.ts'
import type { PageReply } from './page.ts'

/** The mock bank's page (specification, Development and test routes; decision 53). It exists in sandbox mode only. */
export type RedirectStub = {
  /** GET: shows what is to be authorised and the accounts that it may come from, with two buttons. */
  show(input: { query: URLSearchParams }): Promise<PageReply>
  /**
   * POST: takes the payer's decision and sends the payer back with 303. The signed request may stand in the form, as the
   * page's buttons send it, or in the query, so that a program can post `decision=approve` to the redirect URL as it is,
   * and `account=<number or id>` beside it. A 400 says what is wrong in the header `x-problem` too, for programs.
   */
  decide(input: { query: URLSearchParams; form: URLSearchParams }): Promise<PageReply>
}

export function makeRedirectStub({ bank }: { bank: MockBank }): RedirectStub {
  return {
    show: async ({ query }) => {
      const link = readLink(bank, [query])
      if ('problem' in link) return unusable(link.problem)
      return askPayer(link, await bank.payingAccounts(link.request))
    },
    decide: async ({ query, form }) => {
      const link = readLink(bank, [query, form])
      if ('problem' in link) return unusable(link.problem)
      const decision = readDecision(form)
      if (decision === undefined) return unusable('the form must say decision=approve or decision=cancel')
      const [account, ...others] = form.getAll('account')
      if (others.length > 0) return unusable('the form names more than one account')
      return sendOn(link, await bank.decide(link.request, decision, account))
    },
  }
}

type Link = { request: MockBankRequest; signed: string; target: URL }

/** Names of what stands in the address beside the signed request, and must say the same. */
const ECHOED = { consent: 'consent', state: 'state', redirect_uri: 'redirectUri' } as const

/** Hosts go into a Content-Security-Policy, where a semicolon would begin another directive. */
const PLAIN_ORIGIN = /^https?:\/\/[a-z0-9._:[\]-]+$/

/**
 * Reads and checks the address: signed by the bank, and saying nowhere anything else than what was signed. So nobody can
 * make this page show another amount or send the payer to another place.
 */
function readLink(bank: MockBank, sources: readonly URLSearchParams[]): Link | { problem: string } {
  const [signed, ...others] = sources.flatMap((source) => source.getAll('request'))
  if (signed === undefined) return { problem: "the bank's signed request is missing" }
  if (others.some((other) => other !== signed)) return { problem: 'it carries two different requests' }
  const request = bank.readRequest(signed)
  if (!request) return { problem: 'its request was not signed by this bank, or was changed on the way' }
  for (const [name, member] of Object.entries(ECHOED)) {
    const differs = sources.some((source) => source.getAll(name).some((value) => value !== request[member]))
    if (differs) return { problem: `its ${name} is not the one that the bank signed` }
  }
  const target = URL.canParse(request.redirectUri) ? new URL(request.redirectUri) : undefined
  if (!target || !PLAIN_ORIGIN.test(target.origin))
    return { problem: 'its redirect_uri is not an http or https address' }
  return { request, signed, target }
}

function readDecision(form: URLSearchParams): 'approve' | 'cancel' | undefined {
  const [decision, ...others] = form.getAll('decision')
  if (others.length > 0) return undefined
  return decision === 'approve' || decision === 'cancel' ? decision : undefined
}

function askPayer({ request, signed, target }: Link, { named, offered, failure }: PayingAccounts): PageReply {
  const amount = `${formatNumeric(request.amount, request.currency)} ${request.currency}`
  const content = html`<h1>Pay ${request.payeeName}</h1>
<p class="amount">${amount}</p>
<dl>
<div><dt>To</dt><dd>${request.payeeName}</dd></div>
<div><dt>Reference</dt><dd>${request.endToEndId}</dd></div>
${request.debtorBankId === undefined ? undefined : html`<div><dt>Your bank</dt><dd>${request.debtorBankId}</dd></div>`}
${named === null ? undefined : html`<div><dt>From</dt><dd>your account ending ${named.number.slice(-4)}</dd></div>`}
</dl>
${failure === null ? undefined : html`<p role="note">The account that the payment names can't pay: ${failure.problem}. Approve it, and it fails with ${failure.code}.</p>`}
<form method="post" action="/redirect-stub">
<input type="hidden" name="request" value="${signed}">
${offered.length === 0 ? undefined : accountChoice(offered)}
<button class="main" type="submit" name="decision" value="approve">Approve ${amount}</button>
<button type="submit" name="decision" value="cancel">Cancel and go back</button>
</form>
<p class="note">A test bank: no real money moves. Scenario ${request.scenario}: ${parseScenario(request.scenario).behaviour.summary}</p>`
  // Chromium holds the redirect that answers a form against form-action too.
  return page(200, {
    brand: 'Mock Bank',
    title: `Pay ${request.payeeName} - Mock Bank`,
    content,
    formTarget: `'self' ${target.origin}`,
  })
}

function accountChoice(offered: PayingAccounts['offered']): Html {
  return html`<label for="account">Pay from</label>
<select id="account" name="account">
<option value="">An account at another bank</option>
${offered.map((account) => html`<option value="${account.id}">${accountText(account)}</option>`)}
</select>`
}

/** Whoever has the link sees the page: it tells nobody what is on an account. */
function accountText({ name, number }: PayingAccounts['offered'][number]): string {
  return `${name}, ending ${number.slice(-4)}`
}

function sendOn({ request, target }: Link, outcome: DecisionOutcome): PageReply {
  switch (outcome.returns) {
    case 'with-code':
      return seeOther(withParameters(target, { code: outcome.code, state: request.state }))
    case 'with-error':
      return seeOther(withParameters(target, { error: outcome.error, state: request.state }))
    case 'never':
      return stranded(request)
    case 'account-refused':
      return refusedAccount(outcome.problem)
    default:
      return outcome satisfies never
  }
}

/** Adds to what the address has already, which is kept as it was written (RFC 6749, section 3.1.2). */
function withParameters(target: URL, parameters: Record<string, string>): string {
  const url = new URL(target)
  const before = url.search === '' ? '' : `${url.search.slice(1)}&`
  url.search = `?${before}${new URLSearchParams(parameters)}`
  return url.href
}

function stranded(request: MockBankRequest): PageReply {
  const content = html`<h1>You are not sent back</h1>
<p>In the scenario ${request.scenario} the payer never returns to ${request.payeeName}. The payment waits for you until it
expires, and then fails. You can close this page.</p>`
  return page(200, { brand: 'Mock Bank', title: 'You are not sent back - Mock Bank', content })
}

function refusedAccount(problem: string): PageReply {
  const content = html`<h1>This account can't pay</h1>
<p>The payment can't come from the account that was chosen: ${problem}. Nothing was authorised. Go back and choose another
account.</p>`
  return withProblem(page(400, { brand: 'Mock Bank', title: "This account can't pay - Mock Bank", content }), problem)
}

function unusable(problem: string): PageReply {
  const content = html`<h1>This link can't be used</h1>
<p>It is not complete or not genuine: ${problem}. Nothing was authorised. Go back to the shop and start again.</p>`
  return withProblem(page(400, { brand: 'Mock Bank', title: "This link can't be used - Mock Bank", content }), problem)
}

/** The words are ours, and ASCII: nothing of the request is in them. */
function withProblem(reply: PageReply, problem: string): PageReply {
  return { ...reply, headers: { ...reply.headers, 'x-problem': problem } }
}
