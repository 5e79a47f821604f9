import { isUuid } from '../../src/lib/ids.ts'
import { getAdminPayment, listAdminPayments } from '../../src/wire/console.ts'
import type { AdminPayment } from '../../src/wire/console.ts'
import { explainForMerchant, explainForOperator } from '../../src/wire/explain.ts'
import { getPayment, listPayments } from '../../src/wire/payments.ts'
import type { Payment, PayerView } from '../../src/wire/payments.ts'
import { listOutbox } from '../../src/wire/webhooks.ts'
import { CliError } from '../base/errors.ts'
import type { Side } from '../client/auth/acting-side.ts'
import { call } from '../client/call.ts'
import type { Client } from '../client/call.ts'
import { idsIn, notFound, resolveId } from '../kit/resolve-id.ts'

/** What the service knows without a list: ids, end-to-end ids, event ids. */
const WHOLE = /^(SVC|[A-Z]{3})[0-9a-f]{32}$|^evt_\w+$/

export function isWholeName(given: string): boolean {
  return isUuid(given) || WHOLE.test(given)
}

/**
 * The payment that is meant: by its id or a part of it, by its end-to-end id, or by the id of one of its refunds, as
 * `svc explain` takes them.
 * @throws {CliError} when there is none, more than one, or when it names something else
 */
export async function findPayment(client: Client, given: string, side: Side): Promise<string> {
  if (!isWholeName(given))
    return resolveId(given, side === 'platform' ? "merchant's payment" : 'payment', () => paymentIds(client, side))
  const params = { id: isUuid(given) ? given.toLowerCase() : given }
  const { body: found } = await call(client, side === 'platform' ? explainForOperator : explainForMerchant, { params })
  if (found.kind === 'payment') return found.id
  if (found.kind === 'merchant') throw notFound(given, side === 'platform' ? "merchant's payment" : 'payment')
  throw new CliError('NOT_FOUND', `"${given}" is a ${found.kind}, not a payment`, {
    hint: `svc explain ${found.id}`,
  })
}

/** The id of the payment that is meant: a whole id as it is, anything else as above. */
export async function paymentIdFor(client: Client, given: string, side: Side): Promise<string> {
  return isUuid(given) ? given.toLowerCase() : findPayment(client, given, side)
}

export function paymentId(client: Client, given: string): Promise<string> {
  return paymentIdFor(client, given, 'merchant')
}

export async function ownPayment(client: Client, given: string): Promise<Payment | PayerView> {
  return (await call(client, getPayment, { params: { id: await paymentId(client, given) } })).body
}

export async function adminPayment(client: Client, given: string): Promise<AdminPayment> {
  const id = await paymentIdFor(client, given, 'platform')
  return (await call(client, getAdminPayment, { params: { id } })).body
}

/** The ids of payments, the newest first. Operators see those of their list, and older ones that webhooks name. */
export async function* paymentIds(client: Client, side: Side): AsyncGenerator<string> {
  if (side === 'merchant') {
    yield* idsIn(client, listPayments, 'payment_id')
    return
  }
  const seen = new Set<string>()
  for (const list of [listAdminPayments, listOutbox])
    for await (const id of idsIn(client, list, 'payment_id')) {
      if (id === null || seen.has(id)) continue
      seen.add(id)
      yield id
    }
}
