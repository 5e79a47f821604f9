import { randomUUID } from 'node:crypto'
import type { z } from 'zod'
import { createPayment } from '../../../src/wire/payments.ts'
import { refundPayment } from '../../../src/wire/refunds.ts'
import type { CreatePayment } from '../../../src/wire/payments.ts'
import { call } from '../../client.ts'
import { actAsPayer } from '../../mock-payer.ts'
import { customerOf, paymentOf, readInput } from '../case-run.ts'
import type { CaseRun } from '../case-run.ts'
import { StepFailure, refuseDifferences, refuseStatus } from '../failure.ts'
import { Bank, Pay, RefundStep } from '../language/payments.ts'
import { differencesOf } from '../matchers.ts'
import { numberOf } from './customers.ts'

/** Creates a payment, or creates one again: the same key and body, and so the same payment. */
export async function pay(run: CaseRun, given: unknown): Promise<void> {
  const input = readInput(run, Pay, given, ['repeat', 'from'])
  const before = input.repeat === undefined ? undefined : paymentOf(run, input.repeat)
  const key = input.idempotency_key ?? before?.key ?? randomUUID()
  const body = bodyOf(run, input, before?.body)
  const { status, body: created } = await call(run.client, createPayment, {
    headers: { 'x-idempotency-key': key },
    body,
  })
  if (input.as !== undefined) run.captures.set(input.as, created)
  if (before === undefined || input.as !== undefined) run.payments.push({ name: input.as ?? '', created, key, body })
  const { http = before === undefined ? 201 : 200, ...expected } = input.expect ?? {}
  refuseStatus(status, http)
  refuseDifferences('the created payment', differencesOf(expected, created), ['expect'])
  // The key alone makes a repeat; with another key it is a payment of its own.
  if (before !== undefined && key === before.key && created.payment_id !== before.created.payment_id) {
    throw new StepFailure(
      `the repeat made another payment: ${created.payment_id} instead of ${before.created.payment_id}`,
    )
  }
  if (input.bank !== undefined) await actAsPayer(run.client, created, input.bank)
}

/** Acts as the payer at the mock bank, up to the return to the merchant's page. */
export async function bank(run: CaseRun, given: unknown): Promise<void> {
  const input = readInput(run, Bank, given, ['approve', 'cancel'])
  const decision = input.approve === undefined ? 'cancel' : 'approve'
  const { created } = paymentOf(run, input.approve ?? input.cancel ?? '')
  await actAsPayer(run.client, created, decision)
}

export async function refund(run: CaseRun, given: unknown): Promise<void> {
  const input = readInput(run, RefundStep, given, ['payment'])
  const { created } = paymentOf(run, input.payment)
  const body = present({
    amount: input.amount,
    reason: input.reason,
    refund_amount_available: input.refund_amount_available,
  })
  const reply = await call(run.client, refundPayment, {
    params: { id: created.payment_id },
    headers: { 'x-idempotency-key': input.idempotency_key ?? randomUUID() },
    body,
  })
  if (input.as !== undefined) run.captures.set(input.as, reply.body)
  const { http = 200, ...expected } = input.expect ?? {}
  refuseStatus(reply.status, http)
  refuseDifferences('the refund', differencesOf(expected, reply.body), ['expect'])
}

function bodyOf(run: CaseRun, input: z.infer<typeof Pay>, before: CreatePayment | undefined): CreatePayment {
  const { as: _as, repeat: _repeat, idempotency_key: _key, bank: _bank, expect: _expect, from, ...fields } = input
  const payer = from === undefined ? undefined : numberOf(customerOf(run, from))
  return {
    // A payment has both unless it repeats another, which then brings them: read-scenarios.ts sees to that.
    amount: '',
    currency: '',
    redirect_uri: `${run.client.apiUrl}/payments/return`,
    ...before,
    ...present(fields),
    ...(payer === undefined
      ? {}
      : { debtor_account_scheme: payer.SchemeName, debtor_identification: payer.Identification }),
  }
}

function present<T>(fields: Readonly<Record<string, T | undefined>>): Record<string, T> {
  return Object.fromEntries(
    Object.entries(fields).flatMap(([name, value]) => (value === undefined ? [] : [[name, value]])),
  )
}
