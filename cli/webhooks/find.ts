import { getWebhook, listWebhooks } from '../../src/wire/webhooks.ts'
import type { DeliveryDetail } from '../../src/wire/webhooks.ts'
import { call } from '../client/call.ts'
import type { Client } from '../client/call.ts'
import { usageError } from '../base/errors.ts'
import { resolveId } from '../kit/resolve-id.ts'

/** The merchant's own delivery that is meant: by its whole id, or by a part of one of the last 50. */
export async function ownDeliveryId(client: Client, given: string | undefined): Promise<string> {
  if (given === undefined) throw usageError('which delivery? An id is missing', 'svc webhooks list')
  return resolveId(given, 'delivery', () => newestIds(client))
}

async function* newestIds(client: Client): AsyncGenerator<string> {
  const { body } = await call(client, listWebhooks, {})
  for (const delivery of body.data) yield delivery.id
  // A part of the id of a dead one is worth more than its age.
  const { body: dead } = await call(client, listWebhooks, { query: { status: 'DEAD' } })
  const seen = new Set(body.data.map(({ id }) => id))
  for (const { id } of dead.data) if (!seen.has(id)) yield id
}

export async function ownDelivery(client: Client, id: string): Promise<DeliveryDetail> {
  return (await call(client, getWebhook, { params: { id } })).body
}
