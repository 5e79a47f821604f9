import { verifySignature } from '../../src/lib/webhook-signature.ts'
import type { FeedEvent } from '../../src/wire/feed.ts'
import type { Client } from '../client/call.ts'
import type { Context } from '../kit/context.ts'
import { serviceFile, stateOfMerchant } from '../client/service-state.ts'

/** A merchant's signing secret, and where it is known from. */
export type KnownSecret = {
  source: string
  /** As it is known now: a rotation on this machine changes it under way. */
  read(): string
}

/** The secret of the environment, or the one of svc.json when that is about this service and this merchant. */
export function findSecret({ io, stateDir }: Context, { apiUrl, credentials }: Client): KnownSecret | undefined {
  const given = io.env['SVC_WEBHOOK_SECRET'] ?? ''
  if (given !== '') return { source: 'SVC_WEBHOOK_SECRET', read: () => given }
  const stateNow = () => stateOfMerchant(stateDir, { apiUrl, merchant: credentials.merchant })
  const state = stateNow()
  if (state === undefined) return undefined
  let { webhook_secret: last } = state.merchant
  return {
    source: serviceFile(stateDir),
    read() {
      // Once the file is gone, what it said last counts.
      last = stateNow()?.merchant.webhook_secret ?? last
      return last
    },
  }
}

/** While a rotated secret's overlap lasts, the former one signs beside the new one (decision 37). */
const SIGNATURES = new Set(['x-service-signature', 'x-service-signature-previous'])

export function isSigned(event: FeedEvent, secret: string): boolean {
  const body = Buffer.from(event.payload, 'utf8')
  return Object.entries(event.signatures).some(([name, signature]) => {
    return SIGNATURES.has(name.toLowerCase()) && verifySignature({ secret, body, signature })
  })
}
