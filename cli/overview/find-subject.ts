import { listAdminDisputes, listDisputes } from '../../src/wire/disputes.ts'
import { explainForMerchant, explainForOperator } from '../../src/wire/explain.ts'
import type { Explanation } from '../../src/wire/explain.ts'
import { listAdminPayouts, listPayouts } from '../../src/wire/payouts.ts'
import { whoami } from '../../src/wire/service.ts'
import { listOutbox, listWebhooks } from '../../src/wire/webhooks.ts'
import { call } from '../client/call.ts'
import type { Client } from '../client/call.ts'
import type { Context } from '../kit/context.ts'
import { CliError } from '../base/errors.ts'
import { findMerchant } from '../merchants/find.ts'
import { isWholeName, paymentIds } from '../payments/find.ts'
import { idsIn, resolveId } from '../kit/resolve-id.ts'
import { settlementIds } from '../settlements/find.ts'

const PART = /^[0-9a-f-]{8,36}$/i

/** The errors of one side after which the other is asked: not found, or not signed in. */
const TRY_THE_OTHER: ReadonlySet<string> = new Set([
  'RESOURCE_NOT_FOUND',
  'NOT_FOUND',
  'MERCHANT_NOT_FOUND',
  'NOT_SIGNED_IN',
  'WRONG_REALM',
  'FORBIDDEN_ROLE',
])
const IS_OUT: ReadonlySet<string> = new Set(['NOT_SIGNED_IN', 'WRONG_REALM'])

/**
 * The explanation of a record, read as the merchant that owns it, and otherwise as the operator.
 * @throws {CliError} when neither of them can read it
 */
export async function findExplanation(
  context: Context,
  given: string,
  { platform }: { platform: boolean },
): Promise<Explanation> {
  const client = context.client()
  if (platform) return asOperator(client, given)
  const own = await attempt(() => asMerchant(client, given))
  if ('explanation' in own) return own.explanation
  const any = await attempt(() => asOperator(client, given))
  if ('explanation' in any) return any.explanation
  throw bothFailed(given, own.failure, any.failure)
}

type Attempt = { explanation: Explanation } | { failure: CliError }

async function attempt(read: () => Promise<Explanation>): Promise<Attempt> {
  try {
    return { explanation: await read() }
  } catch (error) {
    if (error instanceof CliError && TRY_THE_OTHER.has(error.code)) return { failure: error }
    throw error
  }
}

/** The error to report. A side that is not signed in does not know whether the id exists. */
function bothFailed(given: string, own: CliError, any: CliError): CliError {
  if (IS_OUT.has(any.code) || own.code === 'FORBIDDEN_ROLE') return own
  if (IS_OUT.has(own.code)) return any
  return new CliError(
    'NOT_FOUND',
    `payment, dispute, delivery, settlement, payout or merchant not found: ${given} (looked up as the merchant and as the operator)`,
    {
      hint: 'the whole id; svc payments list shows the newest payments\nif it is a mandate: svc payments mandates show <id>',
    },
  )
}

async function asMerchant(client: Client, given: string): Promise<Explanation> {
  const id = isWholeName(given) ? given : await ownId(client, given)
  return (await call(client, explainForMerchant, { params: { id } })).body
}

async function asOperator(client: Client, given: string): Promise<Explanation> {
  const id = isWholeName(given) ? given : await anyId(client, given)
  return (await call(client, explainForOperator, { params: { id } })).body
}

/** The merchant's own name means itself; a part of an id is looked for among what it has. */
async function ownId(client: Client, given: string): Promise<string> {
  if (PART.test(given))
    return resolveId(given, 'payment, dispute, delivery, settlement or payout of yours', () => ownIds(client))
  const { body: who } = await call(client, { ...whoami, access: ['merchant'] }, {})
  if (who.merchant !== null && (who.realm === given || who.client_id === given)) return who.merchant.id
  return resolveId(given, 'payment, dispute, delivery, settlement or payout of yours', () => ownIds(client))
}

async function* ownIds(client: Client): AsyncGenerator<string> {
  yield* paymentIds(client, 'merchant')
  yield* idsIn(client, listDisputes, 'id')
  yield* visible(ownDeliveries(client))
  yield* visible(moneyIds(client, false))
}

async function* ownDeliveries(client: Client): AsyncGenerator<string> {
  const { body } = await call(client, listWebhooks, {})
  for (const { id } of body.data) yield id
}

async function* moneyIds(client: Client, isOfAll: boolean): AsyncGenerator<string> {
  yield* settlementIds(client, isOfAll)
  yield* idsIn(client, isOfAll ? listAdminPayouts : listPayouts, 'payout_id')
}

/** Some roles see payments, and no webhooks or no payouts: for them there are none. */
async function* visible(ids: AsyncGenerator<string>): AsyncGenerator<string> {
  try {
    yield* ids
  } catch (error) {
    if (!(error instanceof CliError && error.code === 'FORBIDDEN_ROLE')) throw error
  }
}

/** A merchant by its name, or a part of an id among the payments, disputes and deliveries of all. */
async function anyId(client: Client, given: string): Promise<string> {
  const merchant = await namedMerchant(client, given)
  if (merchant !== undefined) return merchant
  return resolveId(given, 'merchant, payment, dispute, delivery, settlement or payout', () => anyIds(client))
}

async function namedMerchant(client: Client, given: string): Promise<string | undefined> {
  try {
    return (await findMerchant(client, given)).merchant.id
  } catch (error) {
    if (error instanceof CliError && (error.code === 'NOT_FOUND' || error.code === 'USAGE')) return undefined
    throw error
  }
}

async function* anyIds(client: Client): AsyncGenerator<string> {
  yield* paymentIds(client, 'platform')
  yield* idsIn(client, listAdminDisputes, 'id')
  yield* idsIn(client, listOutbox, 'id')
  yield* moneyIds(client, true)
}
