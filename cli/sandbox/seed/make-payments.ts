import type { OperationInput } from '../../../src/wire/operation.ts'
import { cancelPayment, createPayment } from '../../../src/wire/payments.ts'
import type { PaymentStatus } from '../../../src/wire/payments.ts'
import { refundPayment } from '../../../src/wire/refunds.ts'
import { advanceSandboxPayment } from '../../../src/wire/sandbox-faults.ts'
import { call } from '../../client/call.ts'
import type { Client } from '../../client/call.ts'
import { CliError } from '../../base/errors.ts'
import type { Shop } from './make-merchants.ts'
import type { PlannedPayment } from './plan.ts'

export type MadePayment = { id: string; shop: Shop; status: PaymentStatus; isWhole: boolean }

/** More at once would make merchants wait for each other. */
const AT_ONCE = 4

type Making = {
  /** As the operator: it has the bank and the payers do what they do. */
  client: Client
  shops: readonly Shop[]
  onProgress(done: number): void
}

/** Makes payments and leads each to its end, a few at once. One that the service refuses is left where it stands. */
export async function makePayments(
  planned: readonly PlannedPayment[],
  { client, shops, onProgress }: Making,
): Promise<MadePayment[]> {
  const made: MadePayment[] = []
  const left = planned.values()
  let done = 0
  async function work(): Promise<void> {
    for (const payment of left) {
      const shop = shops[payment.merchant]
      if (shop !== undefined) made.push(await makeOne(payment, { client, shop }))
      onProgress((done += 1))
    }
  }
  await Promise.all(Array.from({ length: AT_ONCE }, work))
  return made
}

async function makeOne(
  { key, body, ending }: PlannedPayment,
  { client, shop }: { client: Client; shop: Shop },
): Promise<MadePayment> {
  const { body: created } = await call(shop.client, createPayment, {
    headers: { 'x-idempotency-key': key },
    body: { ...body, redirect_uri: `${client.apiUrl}/payments/return` },
  })
  const params = { id: created.payment_id }
  const { to, after } = ending
  const lead = async (): Promise<PaymentStatus> => {
    if (after === 'cancel') return (await call(shop.client, cancelPayment, { params })).body.status
    if (to === undefined) return created.status
    return (await call(client, advanceSandboxPayment, { params, body: { to } })).body.new_status
  }
  const status = await orElse(lead, created.status)
  if (after === 'part-refund' && status === 'Settled')
    await orElse(
      async () => void (await call(shop.client, refundPayment, refundOf(created.payment_id, key))),
      undefined,
    )
  return { id: created.payment_id, shop, status, isWhole: after === undefined }
}

/** A pound or a euro of it, under a key of its own: each payment is of more. */
function refundOf(id: string, key: string): OperationInput<typeof refundPayment> {
  return {
    params: { id },
    headers: { 'x-idempotency-key': `${key}-refund` },
    body: { amount: '1.00', reason: 'a part was missing' },
  }
}

/** What the service refuses has come to its end otherwise: by its bank, or by a run before. */
async function orElse<T>(act: () => Promise<T>, otherwise: T): Promise<T> {
  try {
    return await act()
  } catch (error) {
    const { status = 500 } = error instanceof CliError ? error.options : {}
    if (status < 500 || (error instanceof CliError && error.code === 'BANK_UNAVAILABLE')) return otherwise
    throw error
  }
}
