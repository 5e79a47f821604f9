import type { ErrorCode } from '../../src/lib/errors.ts'
import type { Operation } from '../../src/wire/operation.ts'
import { isForOperators, isForPayers, paramOf } from './error-context.ts'
import type { Hint, Told } from './error-context.ts'

/** What to type after a refusal about disputes. */
export const DISPUTE_HINTS: readonly [ErrorCode, Hint][] = [
  ['DISPUTE_NOT_FOUND', ({ operation }) => `${disputesFor(operation)} list`],
  ['DISPUTE_CLOSED', (told) => `how it ended: ${disputesFor(told.operation)} show ${paramOf(told, 'id')}`],
  ['DISPUTE_ALREADY_OPEN', alreadyOpen],
  ['DISPUTE_NOT_UNDER_REVIEW', notUnderReview],
  ['DISPUTE_ESCALATED', escalated],
  [
    'PAYMENT_NOT_DISPUTABLE',
    (told) =>
      isForOperators(told.operation)
        ? `svc explain ${paramOf(told, 'id')} --platform`
        : `svc ${isForPayers(told.operation) ? 'payer show' : 'payments show'} ${paramOf(told, 'id')}`,
  ],
  ['PAYMENT_ALREADY_REFUNDED', alreadyRefunded],
]

/** Where the caller of an operation finds disputes. The payer of the sandbox is asked by the merchant's people. */
function disputesFor(operation: Operation): string {
  return isForOperators(operation) ? 'svc disputes' : 'svc portal disputes'
}

function alreadyOpen(told: Told): string {
  const id = paramOf(told, 'id')
  return isForPayers(told.operation) ? `svc payer show ${id}` : `${disputesFor(told.operation)} list --payment ${id}`
}

function notUnderReview(told: Told): string {
  const id = paramOf(told, 'id')
  return `until when the merchant may answer: svc disputes show ${id}\nwithout waiting for that: svc disputes escalate ${id} --reason "..."`
}

function escalated(told: Told): string {
  const id = paramOf(told, 'id')
  if (!isForOperators(told.operation)) return `the platform decides it now: svc portal disputes show ${id}`
  return `as an OWNER: svc disputes resolve ${id} --favour <side> --note "..."`
}

/** A refund is one part of what was asked for here. */
function alreadyRefunded(told: Told): string | undefined {
  const isDispute = told.operation.name === 'resolveDispute' || told.operation.name === 'acceptDispute'
  return isDispute ? 'the same command without --refund' : `svc payments refunds ${paramOf(told, 'id')}`
}
