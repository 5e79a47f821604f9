/** Members that hold one e-mail address and nothing else. */
const ADDRESS_FIELDS: ReadonlySet<string> = new Set(['email', 'admin_email', 'payer_email', 'recipient'])

/** Members that hold what people say in their own words. Ids, times and amounts stand in others. */
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
 * Every part below is either of bounded length or a repetition whose pieces can be told apart by their first character,
 * so that a text is gone through once, however it is made.
 */
const DIGIT = String.raw`\p{Nd}`
/** Between the digits of any number: blanks and hyphens of all kinds, and what nobody sees. */
const GAP = String.raw`[\p{Zs}\p{Pd}\p{Cf}\t\u2212]`
/** Between those of a phone number: "+44 (0)20.7946/0958". */
const PHONE_GAP = String.raw`[\p{Zs}\p{Pd}\p{Cf}\t\u2212().\/]`
const NO_WORD_BEFORE = String.raw`(?<![\p{L}\p{Nd}])`
const NO_WORD_AFTER = String.raw`(?![\p{L}\p{Nd}])`
/** Country, check digits, groups of four and a rest, six digits at least; and digits that go on after it. */
const IBAN = String.raw`${NO_WORD_BEFORE}[A-Za-z]{2}${DIGIT}{2}(?=(?:(?:[A-Za-z]|${GAP}){0,16}${DIGIT}){4})(?:${GAP}?[A-Za-z\p{Nd}]{4}){2,7}(?:${GAP}?[A-Za-z\p{Nd}]{1,3})?${NO_WORD_AFTER}(?:${GAP}{0,3}${DIGIT})*`
/** It begins with a plus or a zero, which no amount does that has six digits; or it is written 555.123.4567. */
const PHONE = String.raw`${DIGIT}{3}\.${DIGIT}{3}\.${DIGIT}{4}|${NO_WORD_BEFORE}(?:\(?\+|\(?(?=0${DIGIT}))${DIGIT}(?:${PHONE_GAP}{0,3}${DIGIT}){5,}`
const DIGITS = String.raw`${DIGIT}(?:${GAP}{0,3}${DIGIT}){5,}`
const NUMBER = new RegExp(`${IBAN}|${PHONE}|${DIGITS}`, 'gu')

/** What stands before an address in a text and is no part of it: `<ada@acme.example>`. */
const OPENING = /^["'(<[{]*/

/**
 * The e-mail addresses in a text, with all but the first letter of each name hidden: `a***@acme.example`. A name may
 * have nearly every character in it, so whatever stands before an @ without a space counts as one: rather a word too
 * much is hidden than half a name shown.
 */
export function maskEmails(text: string): string {
  return text.replaceAll(/\S+/g, (word) => {
    const opening = OPENING.exec(word)?.[0] ?? ''
    return opening + maskAddress(word.slice(opening.length))
  })
}

/** One e-mail address, whatever its name is made of: the last @ ends it. */
export function maskAddress(address: string): string {
  const at = address.lastIndexOf('@')
  const [first] = address.slice(0, Math.max(at, 0))
  return first === undefined ? address : `${first}***${address.slice(at)}`
}

/**
 * A JSON value as somebody may see it who shall learn nothing of people: e-mail addresses are hidden in every text,
 * however deep, and numbers of phones and accounts where people speak in their own words.
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

/** What somebody said in their own words, without e-mail addresses and without numbers that belong to people. */
export function maskFreeText(text: string): string {
  return maskNumbers(maskEmails(text))
}

/**
 * The numbers of phones and accounts in a text, shown as `****` and their last four characters. What has six digits or
 * more may be one: rather a date is hidden than a number shown.
 */
export function maskNumbers(text: string): string {
  return text.replaceAll(NUMBER, (number) => `****${lastFour(number)}`)
}

function lastFour(number: string): string {
  return [...number.replaceAll(/[^\p{L}\p{Nd}]/gu, '')].slice(-4).join('')
}

/** A number or a secret as it may be shown: its last four characters, and not how many there are (`****1234`). */
export function maskAllButLastFour(text: string): string {
  return `****${text.slice(-4)}`
}
