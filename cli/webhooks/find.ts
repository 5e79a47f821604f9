import { isUuid } from '../../src/lib/ids.ts'
import { explainForOperator } from '../../src/wire/explain.ts'
import { getWebhook, listOutbox, listWebhooks } from '../../src/wire/webhooks.ts'
import type { DeliveryDetail } from '../../src/wire/webhooks.ts'
import { CliError, usageError } from '../base/errors.ts'
import { call } from '../client/call.ts'
import type { Client } from '../client/call.ts'
import { notFound, resolveId, rowsIn } from '../kit/resolve-id.ts'

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

/** A delivery of any merchant, as far as an operator needs to know it to send it again. */
export type FoundDelivery = { id: string; merchantId: string; status: string }

/**
 * The delivery that an operator means, of any merchant: by its whole id, or by a part of it.
 * @param merchantId where only those of one merchant are meant
 * @throws {CliError} when there is none, or more than one
 */
export async function findDelivery(
  client: Client,
  given: string,
  merchantId: string | undefined,
): Promise<FoundDelivery> {
  const found = isUuid(given) ? await byWholeId(client, given.toLowerCase()) : await byPart(client, given, merchantId)
  if (found === undefined || (merchantId !== undefined && found.merchantId !== merchantId))
    throw notFound(given, "merchant's delivery")
  return found
}

async function byWholeId(client: Client, id: string): Promise<FoundDelivery | undefined> {
  try {
    const { body } = await call(client, explainForOperator, { params: { id } })
    return body.kind === 'delivery' ? { id, merchantId: body.merchant_id, status: body.status } : undefined
  } catch (error) {
    if (error instanceof CliError && error.code === 'RESOURCE_NOT_FOUND') return undefined
    throw error
  }
}

async function byPart(
  client: Client,
  given: string,
  merchantId: string | undefined,
): Promise<FoundDelivery | undefined> {
  const seen = new Map<string, FoundDelivery>()
  const ofMerchant = merchantId === undefined ? {} : { merchant_id: merchantId }
  const id = await resolveId(given, "merchant's delivery", async function* ids() {
    // What is dead is what is sent again, however old it is.
    for (const filter of [{ ...ofMerchant, status: 'DEAD' as const }, ofMerchant]) {
      for await (const row of rowsIn(client, listOutbox, filter)) {
        if (seen.has(row.id)) continue
        seen.set(row.id, { id: row.id, merchantId: row.merchant_id, status: row.status })
        yield row.id
      }
    }
  })
  return seen.get(id)
}
