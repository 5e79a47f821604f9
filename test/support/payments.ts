import { randomUUID } from 'node:crypto'
import { insertUnanswered } from '../../src/payments/unanswered-sql.ts'
import { postponeSettlement } from '../../src/payments/claim-sql.ts'
import { resumeRefunds } from '../../src/payments/refunds/execute-refund.ts'
import { settlePayments } from '../../src/payments/settle-payments.ts'
import { askAgain, authorisedPayment, until } from './app.ts'
import type { Answer, TestMerchant, TestService } from './app.ts'

export type EventRow = { previous_status: string | null; new_status: string; changed_by: string; raw_payload: string }

/** The audit events of a payment in their order. */
export async function eventsOf({ owner }: Pick<TestService, 'owner'>, id: string): Promise<EventRow[]> {
  const { rows } = await owner.query<EventRow>(
    `select previous_status, new_status, changed_by, raw_payload::text as raw_payload
     from payment_events where payment_intent_id = $1 order by ordinal`,
    [id],
  )
  return rows
}

/** The statuses a payment came through. */
export async function movesOf(service: Pick<TestService, 'owner'>, id: string): Promise<string[]> {
  return (await eventsOf(service, id)).map((event) => event.new_status)
}

// Tests look into payloads of every shape.
// oxlint-disable-next-line typescript/no-explicit-any
export type WebhookRow = { event_id: string; event_type: string; sequence: number; status: string; payload: any }

/** The webhooks that a payment has queued, in event order. */
export async function webhooksOf({ owner }: Pick<TestService, 'owner'>, id: string): Promise<WebhookRow[]> {
  const { rows } = await owner.query<WebhookRow>(
    `select event_id, event_type, sequence, status::text as status, payload
     from webhook_log where payment_intent_id = $1 order by sequence`,
    [id],
  )
  return rows
}

export async function webhookTypesOf(service: Pick<TestService, 'owner'>, id: string): Promise<string[]> {
  return (await webhooksOf(service, id)).map((webhook) => webhook.event_type)
}

/** The bank's bookings of a payment: amounts as numeric(19,4) text. */
export async function bookingsOf(
  { owner }: Pick<TestService, 'owner'>,
  id: string,
): Promise<{ debits: string[]; credits: string[] }> {
  const debits = await owner.query<{ amount: string }>(
    'select amount from mock_bank.bank_debits where payment_id = $1',
    [id],
  )
  const credits = await owner.query<{ amount: string }>(
    'select amount from mock_bank.bank_credits where payment_id = $1 order by created_at',
    [id],
  )
  return { debits: debits.rows.map(({ amount }) => amount), credits: credits.rows.map(({ amount }) => amount) }
}

/** Ends a payment's consent, as if its time had passed. */
export async function endConsent({ owner }: Pick<TestService, 'owner'>, id: string): Promise<void> {
  await owner.query(
    `update payment_consents c set expires_at = now() - interval '1 second'
     from payment_intents p where p.merchant_id = c.merchant_id and p.consent_id = c.id and p.id = $1`,
    [id],
  )
}

/** The statuses of a payment and its consent, and how it failed. */
export async function stateOf(
  { owner }: Pick<TestService, 'owner'>,
  id: string,
): Promise<{ payment: string; consent: string; failure: string | null }> {
  const { rows } = await owner.query(
    `select p.status::text as payment, c.status::text as consent, p.failure_code as failure
     from payment_intents p join payment_consents c on c.merchant_id = p.merchant_id and c.id = p.consent_id where p.id = $1`,
    [id],
  )
  return rows[0]
}

export function completeSca(service: TestService, id: string, body: unknown): Promise<Answer> {
  return service.call('POST', `/api/v1/payments/${id}/sca-complete`, { body })
}

export function refund(
  service: TestService,
  merchant: TestMerchant,
  { id, body, key }: { id: string; body?: unknown; key?: string },
): Promise<Answer> {
  return service.call('POST', `/api/v1/payments/${id}/refund`, {
    merchant,
    ...(body === undefined ? {} : { body }),
    ...(key === undefined ? {} : { headers: { 'x-idempotency-key': key } }),
  })
}

/** As clients do: a request that waited too long for the payment's row is repeated, with the same key. */
export function refundWithRetry(
  service: TestService,
  merchant: TestMerchant,
  wish: { id: string; body?: unknown; key?: string },
): Promise<Answer> {
  const key = wish.key ?? randomUUID()
  return askAgain(() => refund(service, merchant, { ...wish, key }))
}

/** Runs the job until no refund of a payment is PENDING: those too for which a slow bank kept the request waiting too long. */
export async function resumeAllRefunds({ app, owner }: TestService, paymentId: string): Promise<void> {
  for (let round = 0; round < 20; round += 1) {
    const { rowCount } = await owner.query(
      `update payment_refunds set resume_at = now() where payment_intent_id = $1 and status = 'PENDING'`,
      [paymentId],
    )
    if (rowCount === 0) return
    await resumeRefunds(app)
  }
  throw new Error('some refunds stay PENDING')
}

/** Creates a payment, lets the payer authorise it, and runs the settlement job, or waits for the worker that has taken it. */
export async function settledPayment(
  service: TestService,
  merchant: TestMerchant,
  changes: Record<string, unknown> = {},
): Promise<string> {
  const { id } = await authorisedPayment(service, merchant, changes)
  await settlePayments(service.app)
  const claimed = `select from payment_intents where id = $1 and status = 'Authorised' and locked_until > now()`
  await until(async () => (await service.owner.query(claimed, [id])).rowCount === 0)
  return id
}

/** How many of a kind: `{ '200': 49, '201': 1 }` for the statuses of answers. */
export function tally(values: readonly (string | number)[]): Record<string, number> {
  const counts: Record<string, number> = {}
  for (const value of values) counts[value] = (counts[value] ?? 0) + 1
  return counts
}

/** The same call so many times at once. */
export function times<T>(count: number, run: (index: number) => Promise<T>): Promise<T[]> {
  return Promise.all(Array.from({ length: count }, (_, index) => run(index)))
}

/** An authorised payment whose bank has not answered the order. @returns its id */
export async function unansweredPayment(service: TestService, merchant: TestMerchant): Promise<string> {
  // A worker beside the test leaves it alone for ten seconds.
  const { id } = await authorisedPayment(service, merchant, { debtor_bank_id: 'mock-slow' })
  await postponeSettlement(service.app.pool, { merchantId: merchant.id, id, seconds: 3_600 })
  await insertUnanswered(service.app.pool, { id, merchant_id: merchant.id })
  return id
}
