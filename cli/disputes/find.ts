import { isUuid } from '../../src/lib/ids.ts'
import { getAdminPayment } from '../../src/wire/console.ts'
import { getAdminDispute, getDispute, listAdminDisputes, listDisputes } from '../../src/wire/disputes.ts'
import type { AdminDisputeWithEvents, DisputeWithEvents } from '../../src/wire/dispute-fields.ts'
import { getPayment } from '../../src/wire/payments.ts'
import type { PaymentSummary } from '../../src/wire/payments.ts'
import type { Side } from '../client/auth/acting-side.ts'
import { call } from '../client/call.ts'
import type { Client } from '../client/call.ts'
import { idsIn, resolveId } from '../kit/resolve-id.ts'
import { findPayment } from '../payments/find.ts'

export type DisputedPayment = Pick<PaymentSummary, 'payment_id' | 'status' | 'gross_amount' | 'currency'>

export async function findOwnDispute(client: Client, given: string): Promise<DisputeWithEvents> {
  const id = await resolveId(given, 'dispute of yours', () => idsIn(client, listDisputes, 'id'))
  return (await call(client, getDispute, { params: { id } })).body
}

export async function findAnyDispute(client: Client, given: string): Promise<AdminDisputeWithEvents> {
  const id = await resolveId(given, 'dispute', () => idsIn(client, listAdminDisputes, 'id'))
  return (await call(client, getAdminDispute, { params: { id } })).body
}

export async function findDisputed(client: Client, given: string, side: Side): Promise<DisputedPayment> {
  const params = { id: await disputedId(client, given, side) }
  if (side === 'merchant') return (await call(client, getPayment, { params })).body
  return (await call(client, getAdminPayment, { params })).body
}

export async function disputedId(client: Client, given: string, side: Side): Promise<string> {
  return isUuid(given) ? given.toLowerCase() : findPayment(client, given, side)
}
