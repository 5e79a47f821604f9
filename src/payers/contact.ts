import type { App } from '../app.ts'
import { invalidField } from '../lib/errors.ts'
import { normaliseEmail, normalisePhone } from '../lib/payer-contact.ts'
import type { SealContext } from '../lib/seal.ts'
import type { PayerContact } from '../wire/payer.ts'
import type { Contact } from './record.ts'

/**
 * The contact of a request in normal form: e-mail in lower case, phone number in E.164 (decision 41).
 * @throws {DomainError} VALIDATION_FAILED at `phone`
 */
export async function contactOf(app: Pick<App, 'lookupHash'>, body: PayerContact): Promise<Contact> {
  if ('email' in body) return withHash(app, { type: 'EMAIL', value: normaliseEmail(body.email) })
  const number = normalisePhone(body.phone)
  if (number === undefined) {
    throw invalidField('phone', 'INVALID', 'must be a phone number such as +447700900123 or 07700 900123')
  }
  return withHash(app, { type: 'PHONE', value: number })
}

/** A contact in normal form, with its hash. */
export async function withHash(
  { lookupHash }: Pick<App, 'lookupHash'>,
  { type, value }: Pick<Contact, 'type' | 'value'>,
): Promise<Contact> {
  return { type, value, hash: await lookupHash(type, value) }
}

/** The place that a contact is sealed to. */
export function contactContext(table: 'payer_link_requests' | 'payer_tokens', id: string): SealContext {
  return { table, column: 'contact', rowId: id, merchantId: '' }
}
