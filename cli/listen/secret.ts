import { verifySignature } from '../../src/lib/webhook-signature.ts'
import type { FeedEvent } from '../../src/wire/portal.ts'
import type { Client } from '../client.ts'
import type { Context } from '../context.ts'
import { readServiceState, serviceFile } from '../service-state.ts'
import type { ServiceState } from '../service-state.ts'

/** A merchant's signing secret, and where it is known from. */
export type KnownSecret = { secret: string; source: string }

/** The secret of the environment, or the one of svc.json when that is about this service and this merchant. */
export function findSecret({ io, stateDir }: Context, { apiUrl, credentials }: Client): KnownSecret | undefined {
  const given = io.env['SVC_WEBHOOK_SECRET'] ?? ''
  if (given !== '') return { secret: given, source: 'SVC_WEBHOOK_SECRET' }
  const state = readServiceState(stateDir)
  if (state === undefined || state.api_url !== apiUrl || !isOf(credentials, state)) return undefined
  return { secret: state.merchant.webhook_secret, source: serviceFile(stateDir) }
}

/** People and credentials of the same merchant have clients of their own, in one realm. */
function isOf({ merchant }: Client['credentials'], state: ServiceState): boolean {
  if (merchant?.realm !== undefined) return merchant.realm === state.merchant.realm
  return merchant?.clientId === state.merchant.client_id
}

/** While a rotated secret's overlap lasts, the former one signs beside the new one (decision 37). */
const SIGNATURES = new Set(['x-service-signature', 'x-service-signature-previous'])

/** Whether a signature of the event is the one of its bytes under this secret. */
export function isSigned(event: FeedEvent, secret: string): boolean {
  const body = Buffer.from(event.payload, 'utf8')
  return Object.entries(event.signatures).some(([name, signature]) => {
    return SIGNATURES.has(name.toLowerCase()) && verifySignature({ secret, body, signature })
  })
}
