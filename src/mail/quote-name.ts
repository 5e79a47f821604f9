/** Characters that would end the quotation, or the line. */
const UNQUOTABLE = /[“”"\p{Cc}\p{Cf}\p{Zl}\p{Zp}]+/gu

/** Dots, also of other scripts, followed by a character that could continue an address. */
const DOT = /[.\u3002\uff0e\uff61](?=[\p{Letter}\p{Number}])/gu

/** The colon of `https://`. */
const SCHEME = /:(?=[/\\])/g

/** Quotes a user-chosen name for a mail to another person: in quotation marks, and never as a link. */
export function quoteName(name: string): string {
  return `“${withoutLinks(name)}”`
}

/**
 * Text of another person on one line of a mail, so that no mail program turns it into a link. A company may be called
 * Booking.com, and another one like the address of a phishing page.
 */
export function withoutLinks(text: string): string {
  const line = text.replaceAll(UNQUOTABLE, ' ').replaceAll(/\s+/g, ' ').trim()
  return line.replaceAll(DOT, '[.]').replaceAll(SCHEME, '[:]')
}
