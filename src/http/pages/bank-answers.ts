import type { DecisionOutcome } from '../../banks/mock-decide.ts'
import type { MockBankRequest } from '../../banks/mock-request.ts'
import { html } from '../../lib/html.ts'
import { withParameters } from '../../lib/web-address.ts'
import type { Link } from './bank-link.ts'
import { page, seeOther } from './page.ts'
import type { PageReply } from './page.ts'

/** Redirects the payer after a decision, or shows why there is no redirect. */
export function returnPayer({ request, target }: Link, outcome: DecisionOutcome): PageReply {
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

function stranded(request: MockBankRequest): PageReply {
  const content = html`<h1>You are not sent back</h1>
<p>In the scenario ${request.scenario} the payer never returns to ${request.payeeName}. The payment waits for you until it
expires, and then fails. You can close this page.</p>`
  return page(200, { brand: 'Mock Bank', title: 'You are not sent back - Mock Bank', content })
}

function refusedAccount(problem: string): PageReply {
  const content = html`<h1>This account can't pay</h1>
<p>The chosen account cannot be used: ${problem}. Nothing was authorised. Go back and choose another
account.</p>`
  return withProblem(page(400, { brand: 'Mock Bank', title: "This account can't pay - Mock Bank", content }), problem)
}

/** The page for an address that must not be used. */
export function unusable(problem: string): PageReply {
  const content = html`<h1>This link can't be used</h1>
<p>It is incomplete or was altered: ${problem}. Nothing was authorised. Go back to the shop and start again.</p>`
  return withProblem(page(400, { brand: 'Mock Bank', title: "This link can't be used - Mock Bank", content }), problem)
}

/** The problem's text is our own ASCII, without anything from the request. */
function withProblem(reply: PageReply, problem: string): PageReply {
  return { ...reply, headers: { ...reply.headers, 'x-problem': problem } }
}
