import type { IncomingMessage } from 'node:http'
import type { App } from '../app.ts'
import { clientAddressOf } from '../lib/client-address.ts'
import { loggedNetwork } from '../lib/network-hash.ts'
import type { Principal } from './principal.ts'

/** The pseudonym of a request's network, as the log and the limits have it. */
export function networkName({ networks, config }: Pick<App, 'networks' | 'config'>, req: IncomingMessage): string {
  return loggedNetwork(networks(clientAddressOf(req, config.trustProxy)))
}

/** Who sent a request, as its line in the log says: ids, and no address. */
export function callerNames(principal: Principal): Record<string, string | null> {
  switch (principal.kind) {
    case 'merchant':
      return { client: principal.proof.clientId, subject: principal.actor.id, merchant_id: principal.merchantId }
    case 'platform':
      return { client: principal.proof.clientId, subject: principal.actor.id }
    case 'customer':
      return { client: principal.clientId, subject: principal.customerId }
    case 'payer':
      return { subject: principal.session.id }
    case 'checkout-token':
    case 'payment-state':
      return { merchant_id: principal.merchantId }
    case 'anyone':
      return {}
  }
}
