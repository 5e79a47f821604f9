import { acceptDispute, escalateDispute, resolveDispute, submitEvidence } from '../../src/wire/disputes.ts'
import type { AdminDispute, Dispute } from '../../src/wire/disputes.ts'
import type { Client } from '../client/call.ts'
import type { CliError } from '../base/errors.ts'
import { wouldRefuse } from '../client/would-refuse.ts'
import { isResolved } from './view.ts'

/*
 * What the service would refuse of a dispute as it stands, in its order and words, so that a dry run says so as well.
 */

type Deciding = typeof escalateDispute | typeof resolveDispute | typeof acceptDispute | typeof submitEvidence
type Refusal = { code: string; message: string; next?: string }
type Stands = Pick<Dispute, 'id' | 'status' | 'refundable_amount'>

/** @throws {CliError} exit code 7 */
export function refuseEscalating(client: Client, dispute: AdminDispute): void {
  refuseClosed(client, escalateDispute, dispute)
  if (dispute.status === 'ESCALATED')
    throw refuse(client, escalateDispute, dispute, {
      code: 'DISPUTE_ESCALATED',
      message: 'the dispute is already escalated',
    })
}

/** Who may resolve what was escalated is the service's to know. @throws {CliError} exit code 7 */
export function refuseResolving(client: Client, dispute: AdminDispute, refund: boolean): void {
  refuseClosed(client, resolveDispute, dispute)
  if (dispute.status === 'OPEN')
    throw refuse(client, resolveDispute, dispute, {
      code: 'DISPUTE_NOT_UNDER_REVIEW',
      message: 'the merchant can still answer the dispute',
    })
  refuseRefund(client, resolveDispute, { dispute, refund })
}

/** @throws {CliError} exit code 7 */
export function refuseAccepting(client: Client, dispute: Stands, refund: boolean): void {
  refuseClosed(client, acceptDispute, dispute)
  if (dispute.status === 'ESCALATED')
    throw refuse(client, acceptDispute, dispute, {
      code: 'DISPUTE_ESCALATED',
      message: 'the dispute is escalated; the platform alone resolves it now',
    })
  refuseRefund(client, acceptDispute, { dispute, refund })
}

/** @throws {CliError} exit code 7 */
export function refuseEvidence(client: Client, dispute: Stands): void {
  refuseClosed(client, submitEvidence, dispute)
}

function refuseClosed(client: Client, operation: Deciding, dispute: Stands): void {
  if (!isResolved(dispute)) return
  const side = dispute.status === 'RESOLVED_MERCHANT_FAVOUR' ? "the merchant's" : "the payer's"
  throw refuse(client, operation, dispute, {
    code: 'DISPUTE_CLOSED',
    message: `the dispute is resolved in ${side} favour`,
  })
}

function refuseRefund(
  client: Client,
  operation: Deciding,
  { dispute, refund }: { dispute: Stands; refund: boolean },
): void {
  if (!refund || !/^0(\.0+)?$/.test(dispute.refundable_amount)) return
  throw refuse(client, operation, dispute, {
    code: 'PAYMENT_ALREADY_REFUNDED',
    message: 'nothing is left of the payment to refund',
  })
}

function refuse(client: Client, operation: Deciding, { id }: Stands, refusal: Refusal): CliError {
  return wouldRefuse(client, operation, {
    input: { params: { id } },
    refusal: { ...refusal, status: 409 },
  })
}
