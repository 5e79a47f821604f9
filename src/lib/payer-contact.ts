import { parsePhoneNumberFromString } from 'libphonenumber-js/min'

/** An e-mail address as payers are known by it (decision 41). */
export function normaliseEmail(email: string): string {
  return email.trim().toLowerCase()
}

/**
 * A phone number in E.164 form, as payers are known by it (decision 41): one of the United Kingdom unless it begins with
 * `+`. Undefined for what can be none, by its length; ranges change too often to ask whether it is given out.
 */
export function normalisePhone(phone: string): string | undefined {
  const number = parsePhoneNumberFromString(phone, { defaultCountry: 'GB', extract: false })
  return number?.isPossible() === true && number.ext === undefined ? number.number : undefined
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
