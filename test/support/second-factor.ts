import type { TestService } from './app.ts'
import type { Page } from './user-agent.ts'

const ALPHABET = 'ABCDEFGHIJKLMNOPQRSTUVWXYZ234567'

/** The bytes of a text in base32, as an authenticator app reads them. */
export function unbase32(text: string): Buffer {
  const bits = Array.from(text, (letter) => ALPHABET.indexOf(letter).toString(2).padStart(5, '0')).join('')
  return Buffer.from((bits.match(/.{8}/g) ?? []).map((byte) => Number.parseInt(byte, 2)))
}

/** The secret that the page offers to an authenticator app. @throws on any other page */
export function secretOf({ status, url, text }: Page): Buffer {
  const key = /<kbd>([A-Z2-7 ]+)<\/kbd>/.exec(text)?.[1]
  if (key === undefined) throw new Error(`${status} ${url} offers no key:\n${text.slice(0, 2_000)}`)
  return unbase32(key.replaceAll(' ', ''))
}

/** As if all people had just chosen their passwords with a mailed link, so that they may set up a first factor. */
export async function afterLinks({ owner }: Pick<TestService, 'owner'>): Promise<void> {
  await owner.query('update idp.users set password_linked_at = now()')
}
