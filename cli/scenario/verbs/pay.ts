import type { z } from 'zod'
import { createPayment } from '../../../src/wire/payments.ts'
import type { CreatePayment } from '../../../src/wire/new-payment.ts'
import { call } from '../../client/call.ts'
import { setFaults } from './bank-fault.ts'
import { visitBank } from './bank-visit.ts'
import { madeOf, readInput } from '../play/case-run.ts'
import type { CaseRun, MadePayment } from '../play/case-run.ts'
import { StepFailure } from '../failure.ts'
import { refuseDifferences, refuseStatus } from '../assert-matches.ts'
import { Bank, Pay } from '../language/payments.ts'
import { differencesOf } from '../matchers.ts'
import { present } from '../present.ts'
import { numberOf } from './customers.ts'
import { consentOf, mandateBody } from './mandates.ts'

/** Creates a payment, or creates one again: the same key and body, and so the same payment. */
export async function pay(run: CaseRun, given: unknown): Promise<void> {
  const input = readInput(run, Pay, given)
  const before = input.repeat === undefined ? undefined : repeated(run, input.repeat)
  const key = input.idempotency_key ?? before?.key ?? run.newKey('pay', given)
  const body = bodyOf(run, input, before?.body)
  const { status, body: created } = await call(run.client, createPayment, {
    headers: { 'x-idempotency-key': key },
    body,
  })
  const made: MadePayment = { created, key, body }
  if (input.as !== undefined) run.captures.set(input.as, created)
  if (before === undefined || input.as !== undefined)
    run.made.push(Object.assign(made, { kind: 'payment', name: input.as ?? '' } as const))
  const { http = before === undefined ? 201 : 200, ...expected } = input.expect ?? {}
  refuseStatus(status, http)
  refuseDifferences('the created payment', differencesOf(expected, created), ['expect'])
  // The key alone makes a repeat; with another key it is a payment of its own.
  if (before !== undefined && key === before.key && created.payment_id !== before.created.payment_id) {
    throw new StepFailure(
      `the repeat made another payment: ${created.payment_id} instead of ${before.created.payment_id}`,
    )
  }
  if (input.bank !== undefined) await visitBank(run, made, { decision: input.bank })
}

/** What the merchant's server has created, which it can do again. */
function repeated(run: CaseRun, reference: string): MadePayment {
  const made = madeOf(run, 'payment', reference)
  if (made.token === undefined) return made
  throw new StepFailure(`${reference} was started with a checkout token`, {
    at: ['repeat'],
    hint: `checkout: { again: ${reference} }`,
  })
}

/** Acts as the payer at the mock bank, up to the return to the merchant's page. */
export async function bank(run: CaseRun, given: unknown): Promise<void> {
  const input = readInput(run, Bank, given)
  if (input.fault !== undefined) return setFaults(run, input.fault)
  const decision = input.approve === undefined ? 'cancel' : 'approve'
  const payment = madeOf(run, 'payment', input.approve ?? input.cancel ?? '')
  await visitBank(run, payment, { decision, returns: input.returns, login: input.login })
}

function bodyOf(run: CaseRun, input: z.infer<typeof Pay>, before: CreatePayment | undefined): CreatePayment {
  const { as: _as, repeat: _repeat, idempotency_key: _key, bank: _bank, expect: _expect, ...said } = input
  const { from, mandate, consent, ...fields } = said
  const payer = from === undefined ? undefined : numberOf(madeOf(run, 'customer', from))
  return {
    // A payment has both unless it repeats another, which then brings them: read-scenarios.ts sees to that.
    amount: '',
    currency: '',
    // Under a mandate nobody goes to a bank, and so nobody comes back.
    ...(consent === undefined
      ? { redirect_uri: `${run.client.apiUrl}/payments/return` }
      : { consent_id: consentOf(run, consent).id }),
    ...before,
    ...present(fields),
    ...mandateBody(mandate),
    ...(payer === undefined
      ? {}
      : { debtor_account_scheme: payer.SchemeName, debtor_identification: payer.Identification }),
  }
}
