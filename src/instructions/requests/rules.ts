import type { FieldError } from '../../lib/errors.ts'
import { validMembers } from '../../lib/field-errors.ts'
import { londonDayOf } from '../../lib/london-time.ts'
import { OfferToPay, RequestToPay } from '../../wire/payment-requests.ts'
import { wrongIdentifier } from './directory.ts'

/** How far ahead a DueDate may be [own] (decision 5). */
const DUE_DAYS_MAX = 366

/** The errors of a request to pay that is rejected for other reasons as well, as far as no lookup is needed. */
export function requestRules(body: unknown, now: Date): FieldError[] {
  const { PayerIdentifier, DueDate } = validMembers(RequestToPay, body)
  return [
    ...at('PayerIdentifier', PayerIdentifier === undefined ? undefined : wrongIdentifier(PayerIdentifier)),
    ...at('DueDate', DueDate === undefined ? undefined : wrongDueDate(DueDate, now)),
  ]
}

/** The same for an offer to pay. */
export function offerRules(body: unknown): FieldError[] {
  const { PayeeIdentifier } = validMembers(OfferToPay, body)
  return at('PayeeIdentifier', PayeeIdentifier === undefined ? undefined : wrongIdentifier(PayeeIdentifier))
}

/** The problem of a due date, in London's calendar. Days are compared as text. */
export function wrongDueDate(dueDate: string, now: Date): Omit<FieldError, 'path'> | undefined {
  const code = 'INVALID_DATE'
  const today = londonDayOf(now)
  const latest = today.plus({ days: DUE_DAYS_MAX }).toISODate()
  if (dueDate < today.toISODate()) return { code, message: `IEDT: has passed; today is ${today.toISODate()} in London` }
  if (dueDate <= latest) return undefined
  return { code, message: `EDTL: is more than ${DUE_DAYS_MAX} days ahead; the latest day is ${latest}` }
}

function at(path: string, problem: Omit<FieldError, 'path'> | undefined): FieldError[] {
  return problem === undefined ? [] : [{ path, ...problem }]
}
