import { parsePhoneNumberFromString } from 'libphonenumber-js/min'
import { E164 } from './e164.ts'

/** Normalises an e-mail address that identifies a payer (decision 41). */
export function normaliseEmail(email: string): string {
  return email.trim().toLowerCase()
}

/**
 * Normalises a phone number that identifies a payer to E.164 (decision 41): from the United Kingdom unless it begins
 * with `+`. Undefined for impossible lengths; whether a range is in use changes too often to check. The library accepts
 * some numbers that are shorter or longer than E.164 allows: nothing could be sent there.
 */
export function normalisePhone(phone: string): string | undefined {
  const number = parsePhoneNumberFromString(phone, { defaultCountry: 'GB', extract: false })
  if (number?.isPossible() !== true || number.ext !== undefined) return undefined
  return E164.test(number.number) ? number.number : undefined
}

/**
 * A hint of a normalised contact that only its owner recognises: `p…@example.org`, `+44 … 0123`. It does not reveal the
 * length, and shows only the country of a number that is too short to hide the rest.
 */
export function hintOf(contact: string): string {
  const at = contact.lastIndexOf('@')
  if (at > 0) return `${[...contact][0]}…${contact.slice(at)}`
  const number = parsePhoneNumberFromString(contact)
  if (number === undefined) return '…'
  const { countryCallingCode, nationalNumber } = number
  return nationalNumber.length > 6 ? `+${countryCallingCode} … ${nationalNumber.slice(-4)}` : `+${countryCallingCode} …`
}
