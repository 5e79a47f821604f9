/** Characters that would end the quotation. */
const QUOTES = /[“”"]+/g

/** Characters that would end the line, or are not seen. */
const UNSEEN = /[\p{Cc}\p{Cf}\p{Zl}\p{Zp}]+/gu

/** Dots, also of other scripts, before two letters, as a top-level domain begins: not those of `INV.2024` and `J.P.` */
const DOT = /[.\u3002\uff0e\uff61](?=\p{Letter}[\p{Letter}\p{Mark}])/gu

/** A machine's address. */
const NUMBERS = /\d+(?:[.\u3002\uff0e\uff61]\d+){3}/g
const ANY_DOT = /[.\u3002\uff0e\uff61]/g

/** The colon of `https://`. */
const SCHEME = /:(?=[/\\])/g

/** Quotes a user-chosen name for a mail to another person: in quotation marks, and never as a link. */
export function quoteName(name: string): string {
  return `“${withoutLinks(name.replaceAll(QUOTES, ' '))}”`
}

/**
 * Text of another person on one line of a mail, so that no mail program turns it into a link. A company may be called
 * Booking.com, and another one like the address of a phishing page.
 */
export function withoutLinks(text: string): string {
  const line = text.replaceAll(UNSEEN, ' ').replaceAll(/\s+/g, ' ').trim()
  return line
    .replaceAll(NUMBERS, (address) => address.replaceAll(ANY_DOT, '[.]'))
    .replaceAll(DOT, '[.]')
    .replaceAll(SCHEME, '[:]')
}
