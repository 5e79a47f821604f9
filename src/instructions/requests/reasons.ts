import { DomainError } from '../../lib/errors.ts'
import type { PaymentRequestRecord } from './record.ts'
import { SIDES } from './sides.ts'

/** Why a request was rejected (ISO 20022, ExternalStatusReason1Code); a rejected payment has a reason of its own. */
export const EXPIRED = 'EDTR'
/** Rejected by the customer without a reason. */
export const REJECTED_BY_CUSTOMER = 'MS02'
/** Cancelled by an authorised user. */
export const WITHDRAWN = 'DS02'

/** The error for a decision that comes too late, with ISO's reason code (decision 5). */
export function requestClosed(request: PaymentRequestRecord): DomainError {
  const [reason, words] = closedReason(request)
  return new DomainError('PAYMENT_REQUEST_CLOSED', `${reason}: this ${SIDES[request.kind].noun} ${words}`)
}

function closedReason({ status, status_reason_code: reason }: PaymentRequestRecord): readonly [string, string] {
  switch (status) {
    case 'Sent':
      throw new Error('an open request has no reason for being closed')
    case 'Accepted':
      return ['ALAC', 'was accepted already, and its payment is in progress']
    case 'Paid':
      return ['APAR', 'was paid already']
    case 'Rejected':
      if (reason === EXPIRED) return ['AEXR', 'has expired']
      return reason === REJECTED_BY_CUSTOMER
        ? ['ARFR', 'was declined already']
        : ['ARJR', `was rejected already (${reason ?? ''})`]
    default:
      return status satisfies never
  }
}

/**
 * The error for an acceptance by the wrong side. The requester can see the request, so naming the decider reveals
 * nothing; an error for an unknown id would contradict the GET of the same request.
 */
export function notYours({ kind }: PaymentRequestRecord): DomainError {
  const { noun, decider } = SIDES[kind]
  return new DomainError(
    'PAYMENT_REQUEST_CLOSED',
    `you made this ${noun}: only its ${decider} can accept it; you can withdraw it with reject`,
  )
}

/** The same error for an id that does not exist, one of the other kind, and another customer's (decision 5). */
export function requestNotFound(kind: PaymentRequestRecord['kind']): DomainError {
  return new DomainError('PAYMENT_REQUEST_NOT_FOUND', `IRNR: ${SIDES[kind].noun} not found`)
}
