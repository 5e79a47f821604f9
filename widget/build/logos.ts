import { MOCK_BANKS } from '../../src/banks/catalogue.ts'
import type { CatalogueBank } from '../../src/banks/catalogue.ts'
import { CONTRAST_MIN, contrastRatio } from '../../src/lib/contrast.ts'

/** Turning the hue by this angle gives neighbours in the list clearly different colours, for any number of banks. */
const GOLDEN_ANGLE = 137.508

export type Logo = { id: string; svg: string }

/** Logos of the invented banks: the initials of the name on a colour. */
export function drawLogos(banks: readonly CatalogueBank[] = MOCK_BANKS): Logo[] {
  return banks.map(({ id, name }, index) => ({ id, svg: drawLogo(monogramOf(name), colourOf(index)) }))
}

/** The image of banks that are not fictional: their own marks belong to them. */
export function neutralLogo(): Logo {
  return { id: 'bank', svg: drawLogo('£', '#4a5568') }
}

function drawLogo(letters: string, colour: string): string {
  return (
    '<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 64 64" width="64" height="64">' +
    `<rect width="64" height="64" rx="14" fill="${colour}"/>` +
    '<text x="32" y="33" fill="#fff" font-family="system-ui,sans-serif" font-size="27" font-weight="600" ' +
    `text-anchor="middle" dominant-baseline="central">${letters}</text></svg>\n`
  )
}

/** The first letters of at most two words. Text in brackets is for testers and not part of the name. */
export function monogramOf(name: string): string {
  const words = name.replace(/\(.*\)/, '').match(/\p{Lu}\p{L}*/gu) ?? ['?']
  return words
    .slice(0, 2)
    .map((word) => word.slice(0, 1))
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
