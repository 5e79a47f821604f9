import { CONTRAST_MIN, contrastRatio } from './contrast.ts'

/** Turning the hue by this angle gives neighbours in the list clearly different colours, for any number of banks. */
const GOLDEN_ANGLE = 137.508

/** A bank's mark as SVG: the initials of its name on a colour. Banks' own marks belong to them. */
export function drawMark(name: string, index: number): string {
  return drawLetters(monogramOf(name), colourOf(index))
}

/** A colour for a bank that is in no list of ours, which it keeps whatever other banks there are. */
export function markIndexOf(id: string): number {
  return [...id].reduce((sum, character) => (sum * 31 + (character.codePointAt(0) ?? 0)) % 360, 0)
}

function drawLetters(letters: string, colour: string): string {
  return (
    '<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 64 64" width="64" height="64">' +
    `<rect width="64" height="64" rx="14" fill="${colour}"/>` +
    '<text x="32" y="33" fill="#fff" font-family="system-ui,sans-serif" font-size="27" font-weight="600" ' +
    `text-anchor="middle" dominant-baseline="central">${letters}</text></svg>\n`
  )
}

/**
 * The first letters of at most two words: of those with a capital, or of any where none has one, as in "first direct" and
 * in scripts without capitals. Text in brackets is for testers and not part of the name.
 */
export function monogramOf(name: string): string {
  const text = name.replace(/\(.*\)/, '')
  const words = text.match(/\p{Lu}\p{L}*/gu) ?? text.match(/\p{L}[\p{L}\p{M}]*/gu) ?? ['?']
  return words
    .slice(0, 2)
    .map((word) => String.fromCodePoint(word.codePointAt(0) ?? 0).toUpperCase())
    .join('')
}

/** The lightest shade that white letters can be read on (WCAG 1.4.3). */
export function colourOf(index: number): string {
  const hue = (index * GOLDEN_ANGLE + 212) % 360
  for (let lightness = 0.5; lightness > 0; lightness -= 0.01) {
    const colour = hexOf(hue, 0.62, lightness)
    if (contrastRatio('#FFFFFF', colour) >= CONTRAST_MIN) return colour
  }
  return '#000000'
}

/** Converts HSL (hue in degrees, the others from 0 to 1) to #RRGGBB. */
function hexOf(hue: number, saturation: number, lightness: number): string {
  const reach = saturation * Math.min(lightness, 1 - lightness)
  const channel = (offset: number): string => {
    const k = (offset + hue / 30) % 12
    const value = lightness - reach * Math.max(-1, Math.min(k - 3, 9 - k, 1))
    return Math.round(value * 255)
      .toString(16)
      .padStart(2, '0')
  }
  return `#${channel(0)}${channel(8)}${channel(4)}`
}
