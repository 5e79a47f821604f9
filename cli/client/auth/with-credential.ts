import { CHECKOUT_TOKEN_HEADER } from '../../../src/wire/checkout.ts'
import type { Client } from '../call.ts'

/** The same service, called with these headers as the only proof; there are no others to try when they are refused. */
function provenBy(client: Client, headers: Readonly<Record<string, string>>): Client {
  const credentials: Client['credentials'] = {
    ...client.credentials,
    headersFor: async () => ({ ...headers }),
    refresh: async () => false,
    end: async () => undefined,
  }
  return { ...client, credentials }
}

/** As the payer's browser before there is a payment: the checkout token is all it has. */
export function withCheckoutToken(client: Client, token: string): Client {
  return provenBy(client, { [CHECKOUT_TOKEN_HEADER]: token })
}

/** As the payer's browser in a payment: by the state that leads it to its bank and back (decision 66). */
export function withPaymentState(client: Client, state: string): Client {
  return provenBy(client, { 'x-payment-state': state })
}

/** As the payer in the hub, by a session. */
export function withPayerSession(client: Client, sessionToken: string): Client {
  return provenBy(client, { authorization: `Bearer ${sessionToken}` })
}
