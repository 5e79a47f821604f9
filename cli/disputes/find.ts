import { isUuid } from '../../src/lib/ids.ts'
import { getAdminPayment } from '../../src/wire/console.ts'
import { getAdminDispute, getDispute, listAdminDisputes, listDisputes } from '../../src/wire/disputes.ts'
import type { AdminDisputeWithEvents, DisputeWithEvents } from '../../src/wire/dispute-fields.ts'
import { getPayment } from '../../src/wire/payments.ts'
import type { Side } from '../client/auth/acting-side.ts'
import { call } from '../client/call.ts'
import type { Client } from '../client/call.ts'
import { rowsOf } from '../client/pages.ts'
import { resolveId } from '../kit/resolve-id.ts'
import { findPayment } from '../payments/find.ts'
import type { DisputedPayment } from './subject.ts'

// How far back a part of an id is looked for: a thousand disputes.
const PAGES_MAX = 10

/** A dispute of the merchant's own. */
export async function findOwnDispute(client: Client, given: string): Promise<DisputeWithEvents> {
  const id = await resolveId(given, 'dispute of yours', () =>
    idsOf(async (query) => (await call(client, listDisputes, { query })).body),
  )
  return (await call(client, getDispute, { params: { id } })).body
}

/** A dispute of any merchant. */
export async function findAnyDispute(client: Client, given: string): Promise<AdminDisputeWithEvents> {
  const id = await resolveId(given, 'dispute', () =>
    idsOf(async (query) => (await call(client, listAdminDisputes, { query })).body),
  )
  return (await call(client, getAdminDispute, { params: { id } })).body
}

async function* idsOf(read: Parameters<typeof rowsOf<{ id: string }>>[0]): AsyncGenerator<string> {
  for await (const { id } of rowsOf(read, PAGES_MAX)) yield id
}

/** The payment that a dispute is about, or will be. */
export async function findDisputed(client: Client, given: string, side: Side): Promise<DisputedPayment> {
  const params = { id: await disputedId(client, given, side) }
  if (side === 'merchant') return (await call(client, getPayment, { params })).body
  return (await call(client, getAdminPayment, { params })).body
}

/** Its id alone. */
export async function disputedId(client: Client, given: string, side: Side): Promise<string> {
  return isUuid(given) ? given.toLowerCase() : findPayment(client, given, side)
}
