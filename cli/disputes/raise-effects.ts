import { getAdminPayment } from '../../src/wire/console.ts'
import {
  disputeAsPayer,
  listAdminDisputes,
  listDisputes,
  raiseAdminDispute,
  raiseDispute,
} from '../../src/wire/disputes.ts'
import type { DisputeStatus } from '../../src/wire/disputes.ts'
import { getPayerPayment, raisePayerDispute } from '../../src/wire/payer.ts'
import { getPayment } from '../../src/wire/payments.ts'
import { call } from '../client/call.ts'
import type { Client } from '../client/call.ts'
import { CliError } from '../base/errors.ts'
import { EXIT } from '../base/exit-codes.ts'
import { wouldRefuse } from '../client/would-refuse.ts'
import { isResolved } from './view.ts'

/*
 * What it would come to if a payment were disputed (decision 22). How long a payment may be disputed, and how often, is
 * the service's to know. A payment has one open dispute at a time, so that the newest tells.
 */

type Raising = typeof raiseDispute | typeof disputeAsPayer | typeof raiseAdminDispute | typeof raisePayerDispute

/** What a dispute goes by. */
type Disputed = {
  payment: { status: string; gross_amount: string; currency: string }
  last: { status: DisputeStatus } | null | undefined
}

/** As its merchant. @throws {CliError} exit code 7 where the service would refuse it */
export async function effectOfRaising(client: Client, id: string): Promise<string> {
  const { body: payment } = await call(client, getPayment, { params: { id } })
  const { data } = (await call(client, listDisputes, { query: { payment_id: id, limit: 1 } })).body
  return effectOf(client, raiseDispute, { id, payment, last: data[0] })
}

/** As an operator, of any merchant's payment. @throws {CliError} exit code 7 where the service would refuse it */
export function effectOfRaisingForPlatform(client: Client, id: string): Promise<string> {
  return effectForOperator(client, raiseAdminDispute, id)
}

/**
 * As the payer of the sandbox would. Undefined where nobody is known who may look at it.
 * @throws {CliError} exit code 7 where the service would refuse it
 */
export async function effectOfRaisingInSandbox(client: Client, id: string): Promise<string | undefined> {
  return effectForOperator(client, disputeAsPayer, id).catch((error: unknown) => {
    const { exit } = error instanceof CliError ? error.options : { exit: undefined }
    if (exit === EXIT.signedOut || exit === EXIT.forbidden) return undefined
    throw error
  })
}

/** As the payer. @throws {CliError} exit code 7 where the service would refuse it */
export async function effectOfRaisingAsPayer(payer: Client, id: string): Promise<string> {
  const { body: payment } = await call(payer, getPayerPayment, { params: { id } })
  const effect = effectOf(payer, raisePayerDispute, { id, payment, last: payment.dispute })
  if (payment.is_disputable) return effect
  throw refuse(payer, raisePayerDispute, {
    id,
    code: 'PAYMENT_NOT_DISPUTABLE',
    message: "the payment can't be disputed any more",
  })
}

async function effectForOperator(
  client: Client,
  operation: typeof raiseAdminDispute | typeof disputeAsPayer,
  id: string,
): Promise<string> {
  const { body: payment } = await call(client, getAdminPayment, { params: { id } })
  const { data } = (await call(client, listAdminDisputes, { query: { payment_id: id, limit: 1 } })).body
  return effectOf(client, operation, { id, payment, last: data[0] })
}

/** The service's own rules, in its order. */
function effectOf(client: Client, operation: Raising, { id, payment, last }: Disputed & { id: string }): string {
  const { status, gross_amount: amount, currency } = payment
  if (status !== 'Settled' && status !== 'Refunded') {
    const message = `the payment is ${status}; only a Settled or Refunded one can be disputed`
    throw refuse(client, operation, { id, code: 'PAYMENT_NOT_DISPUTABLE', message })
  }
  if (last !== null && last !== undefined && !isResolved(last))
    throw refuse(client, operation, { id, code: 'DISPUTE_ALREADY_OPEN', message: 'the payment has an open dispute' })
  return `this would dispute the payment of ${amount} ${currency}`
}

type Refused = { id: string; code: 'PAYMENT_NOT_DISPUTABLE' | 'DISPUTE_ALREADY_OPEN'; message: string }

function refuse(client: Client, operation: Raising, { id, code, message }: Refused): CliError {
  return wouldRefuse(client, operation, {
    input: { params: { id } },
    refusal: { code, status: 409, message },
  })
}
