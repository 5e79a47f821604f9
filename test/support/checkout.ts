import { randomUUID } from 'node:crypto'
import { encodeCheckoutToken, signCheckoutToken } from '../../src/lib/checkout-token.ts'
import { atBank } from './app.ts'
import type { Answer, TestMerchant, TestService } from './app.ts'
import { completeSca } from './payments.ts'

/** A payment as a shop's server creates it; a change to undefined omits the field. */
export function tokenFields(
  service: TestService,
  merchant: Pick<TestMerchant, 'clientId'>,
  changes: Record<string, unknown> = {},
): Record<string, unknown> {
  return {
    amount: '50.00',
    currency: 'GBP',
    merchantName: 'Acme Shop',
    apiUrl: `${service.app.publicUrl}/api/v1`,
    returnUrl: 'https://shop.example/return',
    merchantClientId: merchant.clientId,
    callbackOrigin: 'https://shop.example',
    jti: randomUUID(),
    ...changes,
  }
}

/** A token as a sandbox takes it: not signed. */
export function plainToken(
  service: TestService,
  merchant: TestMerchant,
  changes: Record<string, unknown> = {},
): string {
  return encodeCheckoutToken(tokenFields(service, merchant, changes))
}

/** A token as live mode demands it. */
export function signedToken(
  service: TestService,
  merchant: TestMerchant,
  changes: Record<string, unknown> = {},
): string {
  return signCheckoutToken(plainToken(service, merchant, changes), merchant.secret)
}

/** The requests of the payer's browser with a token. */
export function readCheckout(service: TestService, token: string): Promise<Answer> {
  return service.call('GET', '/api/v1/checkout', { headers: { 'x-checkout-token': token } })
}

/** Starts the payment of a token as the payer's browser does. */
export function startPayment(
  service: TestService,
  token: string,
  body: Record<string, unknown> = {},
  key: string = randomUUID(),
): Promise<Answer> {
  return service.call('POST', '/api/v1/payments', {
    headers: { 'x-checkout-token': token, 'x-idempotency-key': key },
    body,
  })
}

/** Lets the payer approve at the bank and come back. */
export async function approve(service: TestService, { body }: Answer): Promise<void> {
  await completeSca(service, body.payment_id, await atBank(body.redirect_url, 'approve'))
}

/** A started payment as its payer's browser sees it. */
export function seenByPayer(service: TestService, { body }: Answer): Promise<Answer> {
  return service.call('GET', `/api/v1/payments/${body.payment_id}`, {
    headers: { 'x-payment-state': body.payment_state },
  })
}

/** How many payments that began with a token a merchant has in each state. */
export async function tokenStates({ owner }: TestService, { id }: TestMerchant): Promise<Record<string, number>> {
  const { rows } = await owner.query<{ status: string; count: number }>(
    `select status::text as status, count(*)::int as count from payment_intents
     where merchant_id = $1 and checkout_token_hash is not null group by 1`,
    [id],
  )
  return Object.fromEntries(rows.map(({ status, count }) => [status, count]))
}
