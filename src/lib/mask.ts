/** Members that hold one e-mail address and nothing else. */
const ADDRESS_FIELDS: ReadonlySet<string> = new Set(['email', 'admin_email', 'payer_email', 'recipient'])

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

/** The same for every text in a JSON value, however deep. */
export function maskEmailsIn(value: unknown): unknown {
  if (typeof value === 'string') return maskEmails(value)
  if (Array.isArray(value)) return value.map((item) => maskEmailsIn(item))
  if (typeof value !== 'object' || value === null) return value
  return Object.fromEntries(Object.entries(value).map(([name, item]) => [maskEmails(name), maskMember(name, item)]))
}

function maskMember(name: string, value: unknown): unknown {
  return typeof value === 'string' && ADDRESS_FIELDS.has(name) ? maskAddress(value) : maskEmailsIn(value)
}
