/**
 * Members of a request or callback that the audit trail does not keep, because it is kept for ever: the payer's account, name
 * and contact, and what acts as the payer. Names are compared without case and separators: `debtorIdentification` is
 * `debtor_identification`.
 */
const NOT_KEPT: ReadonlySet<string> = new Set([
  'accountnumber',
  'code',
  'contactnormalised',
  'debtoridentification',
  'email',
  'iban',
  'identification',
  'idtoken',
  'name',
  'payeremail',
  'payername',
  'payerphone',
  'paymentstate',
  'phone',
  'sortcode',
  'state',
  'token',
])

const REDACTED = '[redacted]'

/** A part of each of those names. Most bodies have none of them, and are not parsed again. */
const NAME_PART = /code|email|iban|identification|name|number|phone|state|token/i

/** JSON text with the values of those members replaced, at any depth. A text without such a member stays as it was received. */
export function redactPayload(text: string): string {
  // Of two members with the same name the parser drops the first, so a text that may have one is written again in any case.
  let isRewritten = NAME_PART.test(text)
  // An escape can hide a name.
  if (!isRewritten && !text.includes('\\u')) return text
  const payload: unknown = JSON.parse(text, (name, value: unknown) => {
    if (isKept(name, value)) return value
    isRewritten = true
    return REDACTED
  })
  return isRewritten ? JSON.stringify(payload) : text
}

function isKept(name: string, value: unknown): boolean {
  return value === null || !NOT_KEPT.has(name.toLowerCase().replaceAll(/[^a-z]/g, ''))
}
