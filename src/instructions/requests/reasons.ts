import { DomainError } from '../../lib/errors.ts'
import type { PaymentRequestRecord } from './record.ts'
import { SIDES } from './sides.ts'

/** Why a request was rejected (ISO 20022, ExternalStatusReason1Code); a refused payment brings a reason of its own. */
export const EXPIRED = 'EDTR'
/** The customer has given no reason: a request is refused without a word. */
export const REJECTED_BY_CUSTOMER = 'MS02'
/** An authorised user has cancelled the order. */
export const WITHDRAWN = 'DS02'

/** A decision that comes too late, with ISO's reason against it (decision 5). */
export function requestClosed(request: PaymentRequestRecord): DomainError {
  const [reason, words] = closedReason(request)
  return new DomainError('PAYMENT_REQUEST_CLOSED', `${reason}: this ${SIDES[request.kind].noun} ${words}`)
}

function closedReason({ status, status_reason_code: reason }: PaymentRequestRecord): readonly [string, string] {
  switch (status) {
    case 'Sent':
      throw new Error('a request that is open is not closed')
    case 'Accepted':
      return ['ALAC', 'was accepted already, and its payment is under way']
    case 'Paid':
      return ['APAR', 'was paid already']
    case 'Rejected':
      if (reason === EXPIRED) return ['AEXR', 'has expired']
      return reason === REJECTED_BY_CUSTOMER
        ? ['ARFR', 'was refused already']
        : ['ARJR', `was rejected already (${reason ?? ''})`]
    default:
      return status satisfies never
  }
}

/**
 * An acceptance by the wrong side. The maker sees the request, so that nothing is given away by saying whose decision it
 * is; an unknown id would be a lie that contradicts the GET beside it.
 */
export function notYours({ kind }: PaymentRequestRecord): DomainError {
  const { noun, decider } = SIDES[kind]
  return new DomainError(
    'PAYMENT_REQUEST_CLOSED',
    `you made this ${noun}: its ${decider} alone accepts it; you may take it back with reject`,
  )
}

/** The same answer for an id that does not exist, one of the other kind, and somebody else's (decision 5). */
export function requestNotFound(kind: PaymentRequestRecord['kind']): DomainError {
  return new DomainError('PAYMENT_REQUEST_NOT_FOUND', `IRNR: there is no such ${SIDES[kind].noun}`)
}
