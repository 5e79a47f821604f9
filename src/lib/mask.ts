/** Members that contain exactly one e-mail address. */
const ADDRESS_FIELDS: ReadonlySet<string> = new Set(['email', 'admin_email', 'payer_email', 'recipient'])

/** Members with free text written by people. Ids, times and amounts are in other members. */
const FREE_TEXT_FIELDS: ReadonlySet<string> = new Set([
  'payer_statement',
  'statement',
  'merchant_evidence',
  'resolution_note',
  'escalation_reason',
  'note',
  'reason',
])

/*
 * Every part below either has a bounded length or is a repetition whose pieces differ in their first character, so that
 * matching is linear for every input.
 */
const DIGIT = String.raw`\p{Nd}`
/** Between the digits of any number: spaces and hyphens of all kinds, and invisible characters. */
const GAP = String.raw`[\p{Zs}\p{Pd}\p{Cf}\t\u2212]`
/** Between those of a phone number: "+44 (0)20.7946/0958". */
const PHONE_GAP = String.raw`[\p{Zs}\p{Pd}\p{Cf}\t\u2212().\/]`
const NO_WORD_BEFORE = String.raw`(?<![\p{L}\p{Nd}])`
const NO_WORD_AFTER = String.raw`(?![\p{L}\p{Nd}])`
/** Country, check digits, groups of four and a remainder, with at least six digits; and digits directly after it. */
const IBAN = String.raw`${NO_WORD_BEFORE}[A-Za-z]{2}${DIGIT}{2}(?=(?:(?:[A-Za-z]|${GAP}){0,16}${DIGIT}){4})(?:${GAP}?[A-Za-z\p{Nd}]{4}){2,7}(?:${GAP}?[A-Za-z\p{Nd}]{1,3})?${NO_WORD_AFTER}(?:${GAP}{0,3}${DIGIT})*`
/** Begins with a plus or a zero, unlike any amount of six digits; or has the form 555.123.4567. */
const PHONE = String.raw`${DIGIT}{3}\.${DIGIT}{3}\.${DIGIT}{4}|${NO_WORD_BEFORE}(?:\(?\+|\(?(?=0${DIGIT}))${DIGIT}(?:${PHONE_GAP}{0,3}${DIGIT}){5,}`
const DIGITS = String.raw`${DIGIT}(?:${GAP}{0,3}${DIGIT}){5,}`
const NUMBER = new RegExp(`${IBAN}|${PHONE}|${DIGITS}`, 'gu')

/** Characters in front of an address in a text that do not belong to it: `<ada@acme.example>`. */
const OPENING = /^["'(<[{]*/

/**
 * The e-mail addresses in a text, with all but the first letter of each name hidden: `a***@acme.example`. A name may
 * contain nearly every character, so everything in front of an @ without a space counts as one: better to hide a word
 * too many than to show half a name.
 */
export function maskEmails(text: string): string {
  return text.replaceAll(/\S+/g, (word) => {
    const opening = OPENING.exec(word)?.[0] ?? ''
    return opening + maskAddress(word.slice(opening.length))
  })
}

/** Masks one e-mail address with any local part: the last @ ends it. */
export function maskAddress(address: string): string {
  const at = address.lastIndexOf('@')
  const [first] = address.slice(0, Math.max(at, 0))
  return first === undefined ? address : `${first}***${address.slice(at)}`
}

/**
 * Masks personal data in a JSON value, for viewers without access to it: e-mail addresses in every text at any depth,
 * and phone and account numbers in free text.
 */
export function maskPersonalData(value: unknown): unknown {
  if (typeof value === 'string') return maskEmails(value)
  if (Array.isArray(value)) return value.map((item) => maskPersonalData(item))
  if (typeof value !== 'object' || value === null) return value
  return Object.fromEntries(Object.entries(value).map(([name, item]) => [maskEmails(name), maskMember(name, item)]))
}

function maskMember(name: string, value: unknown): unknown {
  if (typeof value !== 'string') return maskPersonalData(value)
  if (ADDRESS_FIELDS.has(name)) return maskAddress(value)
  return FREE_TEXT_FIELDS.has(name) ? maskFreeText(value) : maskEmails(value)
}

/** Masks free text: e-mail addresses, and phone and account numbers. */
export function maskFreeText(text: string): string {
  return maskNumbers(maskEmails(text))
}

/**
 * Masks phone and account numbers in a text as `****` and their last four characters. Any number of six digits or more
 * may be one: better to hide a date than to show a number.
 */
export function maskNumbers(text: string): string {
  return text.replaceAll(NUMBER, (number) => `****${lastFour(number)}`)
}

function lastFour(number: string): string {
  return [...number.replaceAll(/[^\p{L}\p{Nd}]/gu, '')].slice(-4).join('')
}

/** Masks a number or a secret: its last four characters, without its length (`****1234`). */
export function maskAllButLastFour(text: string): string {
  return `****${text.slice(-4)}`
}
