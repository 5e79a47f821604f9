/** Letters and signs that no decomposition leads to the basic character set. */
const SUBSTITUTES: Readonly<Record<string, string>> = {
  ß: 'ss',
  ẞ: 'SS',
  Æ: 'AE',
  æ: 'ae',
  Œ: 'OE',
  œ: 'oe',
  Ø: 'O',
  ø: 'o',
  Ł: 'L',
  ł: 'l',
  Đ: 'D',
  đ: 'd',
  Ð: 'D',
  ð: 'd',
  Þ: 'TH',
  þ: 'th',
  ı: 'i',
  '&': '+',
  _: '-',
  '‐': '-',
  '–': '-',
  '—': '-',
  '‘': "'",
  '’': "'",
  '"': "'",
  '“': "'",
  '”': "'",
  '[': '(',
  ']': ')',
}

/**
 * A text in the characters that every bank takes in payment messages: basic Latin letters, digits and `/-?:().,'+`.
 * Accents are dropped, and what has no likeness becomes a full stop. Two slashes, or one at either end, are not allowed.
 * @returns null if no letter or digit is left: a bank cannot pay a name of full stops
 */
export function isoText(text: string, lengthMax: number): string | null {
  const plain = [...text.normalize('NFKC')]
    .map((character) => SUBSTITUTES[character] ?? character)
    .join('')
    .normalize('NFKD')
    .replaceAll(/\p{M}/gu, '')
    .replaceAll(/[\p{C}\p{Z}\s]+/gu, ' ')
    .replaceAll(/[^A-Za-z0-9/\-?:().,'+ ]+/g, '.')
    .replaceAll(/\/{2,}/g, '/')
  const cut = plain
    .replace(/^[/ ]+/, '')
    .slice(0, lengthMax)
    .replace(/[/ ]+$/, '')
  return /[A-Za-z0-9]/.test(cut) ? cut : null
}
