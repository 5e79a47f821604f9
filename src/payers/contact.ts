import { invalidField } from '../lib/errors.ts'
import { normaliseEmail, normalisePhone } from '../lib/payer-contact.ts'
import type { PayerContact } from '../wire/payer.ts'
import type { Contact } from './record.ts'

/**
 * The contact of a request in normal form: e-mail in lower case, phone number in E.164 (decision 41).
 * @throws {DomainError} VALIDATION_FAILED at `phone`
 */
export function contactOf(body: PayerContact): Contact {
  if ('email' in body) return { type: 'EMAIL', value: normaliseEmail(body.email) }
  const number = normalisePhone(body.phone)
  if (number === undefined) {
    throw invalidField('phone', 'INVALID', 'must be a phone number such as +447700900123 or 07700 900123')
  }
  return { type: 'PHONE', value: number }
}
