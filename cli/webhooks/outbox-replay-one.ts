import { replayForMerchant } from '../../src/wire/webhooks.ts'
import type { AdminDelivery } from '../../src/wire/webhooks.ts'
import { call } from '../client/call.ts'
import type { Client } from '../client/call.ts'
import type { FoundDelivery } from './outbox-find.ts'

/** @throws {CliError} DELIVERY_NOT_DEAD and others, as the service refuses it */
export async function replayOne(
  client: Client,
  { id: deliveryId, merchantId: id }: Pick<FoundDelivery, 'id' | 'merchantId'>,
  reason: string | undefined,
): Promise<AdminDelivery> {
  const body = reason === undefined ? {} : { reason }
  return (await call(client, replayForMerchant, { params: { id, deliveryId }, body })).body
}
