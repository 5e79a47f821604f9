/** A file that can't be read. The message names the place, and is shown to the operator. */
export class UnreadableFile extends Error {}

/** Characters that the database can't hold or that a terminal would obey become blanks. */
export function plainText(text: string, max: number): string | null {
  const plain = text
    .replaceAll(/[\p{Cc}\p{Cf}\p{Cs}\p{Bidi_Control}]+/gu, ' ')
    .replaceAll(/\s+/g, ' ')
    .trim()
  return plain === '' ? null : plain.slice(0, max)
}

/** A rejected value in an error: short, and on one line. */
export function shown(text: string): string {
  return JSON.stringify(plainText(text, 40) ?? '')
}
