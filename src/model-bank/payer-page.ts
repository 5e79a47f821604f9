import type { IncomingMessage, ServerResponse } from 'node:http'
import type { InteractionResults } from 'oidc-provider'
import { z } from 'zod'
import { html } from '../lib/html.ts'
import type { Html } from '../lib/html.ts'
import { INTENT_CLAIM, PAYER, SCA, SCOPES } from './authorisation-server.ts'
import type { Bank } from './bank.ts'
import { moveConsent } from './books.ts'
import type { Account, Consent } from './books.ts'
import { readBody } from './read-body.ts'

const Intent = z.object({ id_token: z.object({ openbanking_intent_id: z.object({ value: z.string() }) }) })
const Decision = z.object({ decision: z.enum(['approve', 'reject', 'cancel']), account: z.string().optional() })

/** The bank's page for payers: what is to be paid, from which account, and three buttons. It asks for no password. */
export async function answerPayer(bank: Bank, req: IncomingMessage, res: ServerResponse): Promise<void> {
  const { params, uid } = await bank.provider.interactionDetails(req, res)
  const claims = typeof params['claims'] === 'string' ? Intent.safeParse(JSON.parse(params['claims'])) : undefined
  const id = claims?.data?.id_token.openbanking_intent_id.value
  const consent = id === undefined ? undefined : bank.books.consents.get(id)
  if (consent === undefined || consent.status !== 'awaiting') {
    const error = { error: 'invalid_request', error_description: 'the consent does not wait for its payer' }
    return bank.provider.interactionFinished(req, res, error)
  }
  if (req.method !== 'POST') return sendPage(res, choicePage(bank, consent, uid))
  const form = Decision.safeParse(Object.fromEntries(new URLSearchParams((await readBody(req)).toString('utf8'))))
  if (!form.success) return sendPage(res, choicePage(bank, consent, uid), 400)
  const result = await decide(bank, consent, { ...form.data, clientId: String(params['client_id']) })
  await bank.provider.interactionFinished(req, res, result)
}

/** A rejection ends the consent at the bank. A payer who cancels may come back to it. */
async function decide(
  bank: Bank,
  consent: Consent,
  { decision, account, clientId }: z.infer<typeof Decision> & { clientId: string },
): Promise<InteractionResults> {
  if (decision === 'cancel') return { error: 'access_denied', error_description: 'the payer cancelled' }
  if (decision === 'reject') {
    moveConsent(consent, 'rejected')
    return { error: 'access_denied', error_description: 'the payer rejected the payment' }
  }
  const chosen = accountsFor(bank, consent).find(({ Identification }) => Identification === account)
  if (chosen === undefined) return { error: 'server_error', error_description: 'the account is not one of the payer’s' }
  const grant = new bank.provider.Grant({ accountId: PAYER, clientId })
  grant.addOIDCScope(SCOPES.join(' '))
  grant.addOIDCClaims([INTENT_CLAIM, 'acr'])
  consent.grantId = await grant.save()
  consent.account = chosen
  moveConsent(consent, 'authorised')
  return { login: { accountId: PAYER, acr: SCA, amr: ['sca'] }, consent: { grantId: consent.grantId } }
}

const DebtorAccount = z.object({ Initiation: z.object({ DebtorAccount: z.object({ Identification: z.string() }) }) })

/** All of the payer's accounts, or the one that the consent names. */
function accountsFor({ books }: Bank, consent: Consent): readonly Account[] {
  const named = DebtorAccount.safeParse(consent.data).data?.Initiation.DebtorAccount.Identification
  return named === undefined ? books.accounts : books.accounts.filter(({ Identification }) => Identification === named)
}

function choicePage(bank: Bank, consent: Consent, uid: string): Html {
  const options = accountsFor(bank, consent).map(
    ({ Identification, Name, balance }) =>
      html`<option value="${Identification}">${Name} ${Identification} (GBP ${balance})</option>`,
  )
  return html`<!doctype html>
<html lang="en"><head><meta charset="utf-8"><title>Approve a payment - Model Bank</title>
<meta name="viewport" content="width=device-width, initial-scale=1"><link rel="icon" href="data:,"></head>
<body><main><h1>Model Bank</h1><p>${summaryOf(consent)}</p>
<form method="post" action="/interaction/${uid}">
<p><label>Pay from <select name="account">${options}</select></label></p>
<p><button name="decision" value="approve">Approve</button>
<button name="decision" value="reject">Reject</button>
<button name="decision" value="cancel">Cancel</button></p>
</form></main></body></html>`
}

const Payment = z.object({
  Initiation: z.object({
    InstructedAmount: z.object({ Amount: z.string(), Currency: z.string() }),
    CreditorAccount: z.object({ Name: z.string(), Identification: z.string() }),
  }),
})

function summaryOf(consent: Consent): string {
  const { data } = Payment.safeParse(consent.data)
  if (data === undefined) return 'Approve payments to a merchant, within limits that you set.'
  const { InstructedAmount: amount, CreditorAccount: creditor } = data.Initiation
  return `Pay ${amount.Currency} ${amount.Amount} to ${creditor.Name}, account ${creditor.Identification}.`
}

function sendPage(res: ServerResponse, page: Html, status = 200): void {
  res
    .writeHead(status, {
      'content-type': 'text/html; charset=utf-8',
      'cache-control': 'no-store',
      'content-security-policy': "default-src 'none'; img-src data:; frame-ancestors 'none'",
    })
    .end(page.html)
}
