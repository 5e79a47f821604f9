/** What would end the quotation, or the line. */
const UNQUOTABLE = /[“”"\p{Cc}\p{Cf}\p{Zl}\p{Zp}]+/gu

/** The dots of an address and what stands for one in other scripts, where something follows that could go on with it. */
const DOT = /[.\u3002\uff0e\uff61](?=[\p{Letter}\p{Number}])/gu

/** The colon of `https://`. */
const SCHEME = /:(?=[/\\])/g

/**
 * A name that somebody chose, for a mail that goes to somebody else: in quotation marks, and such that no mail program
 * makes a link of it. A company may be called Booking.com, and another one like a page that asks for passwords.
 */
export function quoteName(name: string): string {
  const line = name.replaceAll(UNQUOTABLE, ' ').replaceAll(/\s+/g, ' ').trim()
  return `“${line.replaceAll(DOT, '[.]').replaceAll(SCHEME, '[:]')}”`
}
