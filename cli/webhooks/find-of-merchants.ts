import { isUuid } from '../../src/lib/ids.ts'
import { explainForOperator } from '../../src/wire/explain.ts'
import { listOutbox } from '../../src/wire/webhooks.ts'
import { call } from '../client/call.ts'
import type { Client } from '../client/call.ts'
import { CliError } from '../base/errors.ts'
import { rowsOf } from '../client/pages.ts'
import { notFound, resolveId } from '../kit/resolve-id.ts'

/** A delivery of any merchant, as far as an operator needs to know it to send it again. */
export type FoundDelivery = { id: string; merchantId: string; status: string }

// How far back a part of an id is looked for, among those that are dead and among all: a thousand each.
const PAGES_MAX = 10

/**
 * The delivery that an operator means, whoever's it is: by its whole id, or by a part of it.
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
      const rows = rowsOf(
        async (page) => (await call(client, listOutbox, { query: { ...filter, ...page } })).body,
        PAGES_MAX,
      )
      for await (const row of rows) {
        if (seen.has(row.id)) continue
        seen.set(row.id, { id: row.id, merchantId: row.merchant_id, status: row.status })
        yield row.id
      }
    }
  })
  return seen.get(id)
}
