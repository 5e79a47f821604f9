import type { MockBank } from '../../banks/mock.ts'
import type { MockLogin } from '../../banks/mock-login.ts'
import { returnPayer, unusable } from './bank-answers.ts'
import { readDecision, readLink } from './bank-link.ts'
import type { Link } from './bank-link.ts'
import { askApproval, askCode, askPassword } from './mock-bank-steps.ts'
import type { Credentials } from './mock-bank-steps.ts'
import type { PageReply } from './page.ts'

/**
 * The mock bank's full login: user name and password, a one-time code, then the choice of the account (contract
 * §Development and test routes; decisions 32 and 44). It exists in sandbox mode only.
 */
export type MockBankSca = {
  /** GET: shows the form for user name and password. */
  show(input: { query: URLSearchParams }): Promise<PageReply>
  /** POST: handles one step. The form carries the completed steps, signed by the bank. */
  step(input: { query: URLSearchParams; form: URLSearchParams }): Promise<PageReply>
}

type Parts = { bank: MockBank; login: MockLogin; credentials: Credentials; areCapsEnforced: boolean }

export function makeMockBankSca(parts: Parts): MockBankSca {
  return {
    show: async ({ query }) => {
      const link = readLink(parts.bank, [query])
      return 'problem' in link ? unusable(link.problem) : askPassword(link, parts.credentials)
    },
    step: async ({ query, form }) => {
      const link = readLink(parts.bank, [query, form])
      if ('problem' in link) return unusable(link.problem)
      const repeated = ['username', 'password', 'code', 'login', 'account'].find((name) => form.getAll(name).length > 1)
      if (repeated !== undefined) return unusable(`the form says ${repeated} more than once`)
      if (form.has('decision')) return decide(parts, link, form)
      return form.has('code') ? enterCode(parts, link, form) : signIn(parts, link, form)
    },
  }
}

function signIn({ login, credentials }: Parts, link: Link, form: URLSearchParams): PageReply {
  const username = (form.get('username') ?? '').trim()
  const { state, scenario } = link.request
  const signed = login.signIn({ state, scenario, username, password: form.get('password') ?? '' })
  if (signed !== undefined) return askCode(link, { login: signed, credentials })
  return askPassword(link, credentials, 'The user name or the password is wrong. Nothing was authorised.')
}

async function enterCode(parts: Parts, link: Link, form: URLSearchParams): Promise<PageReply> {
  const { bank, login, credentials, areCapsEnforced } = parts
  const signed = form.get('login') ?? ''
  const who = login.read(signed, { step: 'password', state: link.request.state })
  if (who === undefined) return startAgain(link, credentials)
  const outcome = await login.enterCode(who, (form.get('code') ?? '').replaceAll(/\s/g, ''))
  if ('login' in outcome) {
    const request = { ...link.request, scenario: who.scenario }
    const accounts = await bank.payingAccounts(request)
    return askApproval({ ...link, request }, { login: outcome.login, accounts, areCapsEnforced })
  }
  if (outcome.triesLeft > 0) return askCode(link, { login: signed, credentials, triesLeft: outcome.triesLeft })
  // The bank never identified the payer: it records that, and the payer returns with a code for it.
  return returnPayer(link, await bank.decide({ ...link.request, scenario: 'sca-fails' }, 'approve'))
}

/** The payer can cancel at any step; approving requires both steps before. */
async function decide({ bank, login, credentials }: Parts, link: Link, form: URLSearchParams): Promise<PageReply> {
  const decision = readDecision(form)
  if (decision === undefined) return unusable('the form must say decision=approve or decision=cancel')
  const who = login.read(form.get('login') ?? '', { step: 'code', state: link.request.state })
  if (decision === 'cancel') {
    const scenario = who?.scenario ?? link.request.scenario
    return returnPayer(link, await bank.decide({ ...link.request, scenario }, 'cancel'))
  }
  if (who === undefined) return startAgain(link, credentials)
  const request = { ...link.request, scenario: who.scenario }
  return returnPayer({ ...link, request }, await bank.decide(request, 'approve', form.get('account') ?? undefined))
}

function startAgain(link: Link, credentials: Credentials): PageReply {
  return askPassword(
    link,
    credentials,
    'Sign in first: you are not signed in, or were signed out. Nothing was authorised.',
  )
}
