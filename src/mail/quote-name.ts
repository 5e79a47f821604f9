/** Characters that would end the quotation, or the line. */
const UNQUOTABLE = /[“”"\p{Cc}\p{Cf}\p{Zl}\p{Zp}]+/gu

/** Dots, also of other scripts, followed by a character that could continue an address. */
const DOT = /[.\u3002\uff0e\uff61](?=[\p{Letter}\p{Number}])/gu

/** The colon of `https://`. */
const SCHEME = /:(?=[/\\])/g

/**
 * Quotes a user-chosen name for a mail to another person: in quotation marks, and so that no mail program turns it into
 * a link. A company may be called Booking.com, and another one like the address of a phishing page.
 */
export function quoteName(name: string): string {
  const line = name.replaceAll(UNQUOTABLE, ' ').replaceAll(/\s+/g, ' ').trim()
  return `“${line.replaceAll(DOT, '[.]').replaceAll(SCHEME, '[:]')}”`
}
