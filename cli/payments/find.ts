import { isUuid } from '../../src/lib/ids.ts'
import { getAdminPayment, listAdminPayments } from '../../src/wire/console.ts'
import type { AdminPayment } from '../../src/wire/console.ts'
import { explainForMerchant, explainForOperator } from '../../src/wire/explain.ts'
import { getPayment, listPayments } from '../../src/wire/payments.ts'
import type { Payment, PayerView } from '../../src/wire/payments.ts'
import { listOutbox } from '../../src/wire/webhooks.ts'
import type { Side } from '../client/auth/acting-side.ts'
import { call } from '../client/call.ts'
import type { Client } from '../client/call.ts'
import { CliError, usageError } from '../base/errors.ts'
import { EXIT } from '../base/exit-codes.ts'
import { rowsOf } from '../client/pages.ts'
import { notFound, resolveId } from '../kit/resolve-id.ts'

// How far back a part of an id is looked for: the last thousand payments, and those of the last thousand webhooks.
const PAGES_MAX = 10

/** What the service knows without a list: ids, end-to-end ids, event ids. */
const WHOLE = /^(SVC|[A-Z]{3})[0-9a-f]{32}$|^evt_\w+$/

/** Whether the service itself is asked what this names. */
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
  const { body: story } =
    side === 'platform'
      ? await call(client, explainForOperator, { params })
      : await call(client, explainForMerchant, { params })
  if (story.kind === 'payment') return story.id
  if (story.kind === 'merchant') throw notFound(given, side === 'platform' ? "merchant's payment" : 'payment')
  throw new CliError('NOT_FOUND', `"${given}" is a ${story.kind}, no payment`, {
    exit: EXIT.notFound,
    hint: `svc explain ${story.id}`,
  })
}

/** The id of the payment that is meant: a whole id as it is, anything else as above. */
export async function paymentIdFor(client: Client, given: string, side: Side): Promise<string> {
  return isUuid(given) ? given.toLowerCase() : findPayment(client, given, side)
}

/** The merchant's own payment that the first argument means. */
export async function paymentId(client: Client, [given]: readonly string[]): Promise<string> {
  if (given === undefined) throw usageError('which payment? Its id is missing', 'svc payments list')
  return paymentIdFor(client, given, 'merchant')
}

/** The merchant's own payment that is meant. */
export async function ownPayment(client: Client, given: string): Promise<Payment | PayerView> {
  return (await call(client, getPayment, { params: { id: await paymentId(client, [given]) } })).body
}

/** The payment of any merchant that is meant. */
export async function adminPayment(client: Client, given: string): Promise<AdminPayment> {
  const id = await paymentIdFor(client, given, 'platform')
  return (await call(client, getAdminPayment, { params: { id } })).body
}

/** The ids of payments, the newest first. Operators see them in their list, and older ones where webhooks tell of them. */
export async function* paymentIds(client: Client, side: Side): AsyncGenerator<string> {
  if (side === 'merchant') {
    const own = rowsOf(async (query) => (await call(client, listPayments, { query })).body, PAGES_MAX)
    for await (const { payment_id: id } of own) yield id
    return
  }
  const seen = new Set<string>()
  const all = rowsOf(async (query) => (await call(client, listAdminPayments, { query })).body, PAGES_MAX)
  for await (const { payment_id: id } of all) {
    seen.add(id)
    yield id
  }
  const told = rowsOf(async (query) => (await call(client, listOutbox, { query })).body, PAGES_MAX)
  for await (const { payment_id: id } of told) {
    if (id === null || seen.has(id)) continue
    seen.add(id)
    yield id
  }
}
