import { replayForMerchant, replayWebhook } from '../../src/wire/webhooks.ts'
import type { AdminDelivery, Delivery } from '../../src/wire/webhooks.ts'
import { CliError } from '../base/errors.ts'
import { call } from '../client/call.ts'
import type { Client } from '../client/call.ts'
import { tried } from '../kit/change.ts'

/** A delivery of the merchant's own where no merchant is named, else one of that merchant, replayed by an operator. */
export type Replayable = { id: string; merchantId?: string | null }
type How = { reason?: string | undefined; dryRun?: boolean }

/** @throws {CliError} DELIVERY_NOT_DEAD and others, as the service refuses it */
export async function replayOne(
  client: Client,
  { id, merchantId = null }: Replayable,
  { reason, dryRun = false }: How = {},
): Promise<Delivery | AdminDelivery> {
  const query = tried(dryRun)
  if (merchantId === null) return (await call(client, replayWebhook, { params: { id }, query })).body
  const body = reason === undefined ? {} : { reason }
  return (await call(client, replayForMerchant, { params: { id: merchantId, deliveryId: id }, query, body })).body
}

/** Sends one again; false where it is DEAD no more: another caller was quicker, or the try before this one. */
export async function replayIfDead(client: Client, delivery: Replayable, how: How): Promise<boolean> {
  try {
    await replayOne(client, delivery, how)
    return true
  } catch (error) {
    if (error instanceof CliError && error.code === 'DELIVERY_NOT_DEAD') return false
    throw error
  }
}
