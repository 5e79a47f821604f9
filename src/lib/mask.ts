const EMAIL = /([^\s@"'<>(),:;[\]\\])[^\s@"'<>(),:;[\]\\]*@([^\s@"'<>(),:;[\]\\]+)/g

/** The e-mail addresses in a text, with all but the first letter of each name hidden: `a***@acme.example`. */
export function maskEmails(text: string): string {
  return text.replaceAll(EMAIL, '$1***@$2')
}

/** The same for every text in a JSON value, however deep. */
export function maskEmailsIn(value: unknown): unknown {
  if (typeof value === 'string') return maskEmails(value)
  if (Array.isArray(value)) return value.map((item) => maskEmailsIn(item))
  if (typeof value !== 'object' || value === null) return value
  return Object.fromEntries(Object.entries(value).map(([name, item]) => [maskEmails(name), maskEmailsIn(item)]))
}
