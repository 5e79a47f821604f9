import { parsePhoneNumberFromString } from 'libphonenumber-js/min'
import { E164 } from './e164.ts'

/** An e-mail address as payers are known by it (decision 41). */
export function normaliseEmail(email: string): string {
  return email.trim().toLowerCase()
}

/**
 * A phone number in E.164 form, as payers are known by it (decision 41): one of the United Kingdom unless it begins
 * with `+`. Undefined for what can be none, by its length; ranges change too often to ask whether it is given out. The
 * library takes some that are shorter or longer than E.164 has them: nothing could be sent there.
 */
export function normalisePhone(phone: string): string | undefined {
  const number = parsePhoneNumberFromString(phone, { defaultCountry: 'GB', extract: false })
  if (number?.isPossible() !== true || number.ext !== undefined) return undefined
  return E164.test(number.number) ? number.number : undefined
}

/**
 * A normalised contact as its owner knows it again and nobody else reads it: `p…@example.org`, `+44 … 0123`. Nothing of
 * its length is told, and of a number as short as what would be shown only the country.
 */
export function hintOf(contact: string): string {
  const at = contact.lastIndexOf('@')
  if (at > 0) return `${[...contact][0]}…${contact.slice(at)}`
  const number = parsePhoneNumberFromString(contact)
  if (number === undefined) return '…'
  const { countryCallingCode, nationalNumber } = number
  return nationalNumber.length > 6 ? `+${countryCallingCode} … ${nationalNumber.slice(-4)}` : `+${countryCallingCode} …`
}
