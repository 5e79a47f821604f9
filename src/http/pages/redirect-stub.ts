import type { MockBank } from '../../banks/mock.ts'
import type { PayingAccounts } from '../../banks/mock-paying-account.ts'
import { parseScenario } from '../../banks/scenarios.ts'
import { html } from '../../lib/html.ts'
import { returnPayer, unusable } from './bank-answers.ts'
import { readDecision, readLink } from './bank-link.ts'
import type { Link } from './bank-link.ts'
import { accountChoice, amountOf, paymentFacts } from './bank-payment.ts'
import type { PaymentPageOptions } from './bank-payment.ts'
import { page, seeOther } from './page.ts'
import type { PageReply } from './page.ts'

/** The mock bank's page (contract §Development and test routes; decision 53). It exists in sandbox mode only. */
export type RedirectStub = {
  /**
   * GET: shows the payment and the accounts to pay from, with two buttons. With `sca=full` it redirects to the bank's
   * full login instead.
   */
  show(input: { query: URLSearchParams }): Promise<PageReply>
  /**
   * POST: handles the payer's decision and redirects the payer back with 303. The signed request can be in the form, as the
   * page's buttons send it, or in the query, so that a program can post `decision=approve` to the redirect URL, with
   * `account=<number or id>`. A 400 has the problem in the header `x-problem` too, for programs.
   */
  decide(input: { query: URLSearchParams; form: URLSearchParams }): Promise<PageReply>
}

type Parts = Pick<PaymentPageOptions, 'areCapsEnforced'> & { bank: MockBank }

export function makeRedirectStub({ bank, areCapsEnforced }: Parts): RedirectStub {
  return {
    show: async ({ query }) => {
      if (query.get('sca') === 'full') return seeOther(`/dev/mock-bank-sca?${query}`)
      const link = readLink(bank, [query])
      if ('problem' in link) return unusable(link.problem)
      return askPayer(link, await bank.payingAccounts(link.request), areCapsEnforced)
    },
    decide: async ({ query, form }) => {
      const link = readLink(bank, [query, form])
      if ('problem' in link) return unusable(link.problem)
      const decision = readDecision(form)
      if (decision === undefined) return unusable('the form must say decision=approve or decision=cancel')
      const [account, ...others] = form.getAll('account')
      if (others.length > 0) return unusable('the form names more than one account')
      return returnPayer(link, await bank.decide(link.request, decision, account))
    },
  }
}

function askPayer({ request, signed, target }: Link, accounts: PayingAccounts, areCapsEnforced: boolean): PageReply {
  const content = html`<h1>Pay ${request.payeeName}</h1>
${paymentFacts(request, { named: accounts.named, areCapsEnforced })}
<form method="post" action="/redirect-stub">
<input type="hidden" name="request" value="${signed}">
${accountChoice(accounts)}
<button class="main" type="submit" name="decision" value="approve">Approve ${amountOf(request)}</button>
<button type="submit" name="decision" value="cancel">Cancel and go back</button>
</form>
<p class="note">A test bank: no real money moves. Scenario ${request.scenario}: ${parseScenario(request.scenario).behaviour.summary}</p>`
  // Chromium also checks the redirect after a form against form-action.
  return page(200, {
    brand: 'Mock Bank',
    title: `Pay ${request.payeeName} - Mock Bank`,
    content,
    formTarget: `'self' ${target.origin}`,
  })
}
