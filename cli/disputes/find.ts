import { isUuid } from '../../src/lib/ids.ts'
import { getAdminDispute, getDispute, listAdminDisputes, listDisputes } from '../../src/wire/disputes.ts'
import type { AdminDisputeWithEvents, DisputeWithEvents } from '../../src/wire/disputes.ts'
import { listOutbox } from '../../src/wire/webhooks.ts'
import { call } from '../client/call.ts'
import type { Client } from '../client/call.ts'
import { usageError } from '../base/errors.ts'
import { rowsOf } from '../client/pages.ts'
import { resolveId } from '../kit/resolve-id.ts'

// How far back a part of an id is looked for: a thousand disputes, or deliveries.
const PAGES_MAX = 10

/** A dispute of any merchant, and whether the command line named it by its whole id. */
export async function findAdminDispute(
  client: Client,
  args: readonly string[],
): Promise<{ dispute: AdminDisputeWithEvents; isExact: boolean }> {
  const given = named(args, 'svc disputes list')
  const id = await resolveId(given, 'dispute', () =>
    idsOf(async (query) => (await call(client, listAdminDisputes, { query })).body),
  )
  const { body: dispute } = await call(client, getAdminDispute, { params: { id } })
  return { dispute, isExact: isUuid(given) }
}

/** A dispute of the merchant's own, and whether the command line named it by its whole id. */
export async function findOwnDispute(
  client: Client,
  args: readonly string[],
): Promise<{ dispute: DisputeWithEvents; isExact: boolean }> {
  const given = named(args, 'svc portal disputes list')
  const id = await resolveId(given, 'dispute of yours', () =>
    idsOf(async (query) => (await call(client, listDisputes, { query })).body),
  )
  const { body: dispute } = await call(client, getDispute, { params: { id } })
  return { dispute, isExact: isUuid(given) }
}

function named([given]: readonly string[], list: string): string {
  if (given === undefined) throw usageError('which dispute? An id is missing', list)
  return given
}

async function* idsOf(read: Parameters<typeof rowsOf<{ id: string }>>[0]): AsyncGenerator<string> {
  for await (const { id } of rowsOf(read, PAGES_MAX)) yield id
}

/** The payment of any merchant that is meant. Operators have no list of payments; the webhooks about them have their ids. */
export async function anyPaymentId(client: Client, given: string): Promise<string> {
  return resolveId(given, "merchant's payment", () => paymentsOfOutbox(client))
}

async function* paymentsOfOutbox(client: Client): AsyncGenerator<string> {
  const seen = new Set<string>()
  const read: Parameters<typeof rowsOf<{ payment_id: string | null }>>[0] = async (query) =>
    (await call(client, listOutbox, { query })).body
  for await (const { payment_id: id } of rowsOf(read, PAGES_MAX)) {
    if (id === null || seen.has(id)) continue
    seen.add(id)
    yield id
  }
}
