/** The minimum contrast of text that WCAG 2.2 requires (success criterion 1.4.3). */
export const CONTRAST_MIN = 4.5

/** WCAG's contrast ratio of two colours, each as #RRGGBB: from 1, no difference, to 21, black on white. */
export function contrastRatio(one: string, other: string): number {
  const [first, second] = [luminanceOf(one), luminanceOf(other)]
  return (Math.max(first, second) + 0.05) / (Math.min(first, second) + 0.05)
}

/** A ratio for people. Truncated, not rounded: a ratio below the minimum must not read as if it reached it. */
export function ratioText(ratio: number): string {
  return `${(Math.floor(ratio * 10) / 10).toFixed(1)}:1`
}

export type ButtonText = '#FFFFFF' | '#000000'

/**
 * The text colour of a button of this colour: white, or black where white is unreadable. The two ratios multiply to 21,
 * so one of them always exceeds the minimum.
 */
export function buttonTextOn(colour: string): ButtonText {
  return contrastRatio('#FFFFFF', colour) < CONTRAST_MIN ? '#000000' : '#FFFFFF'
}

/** WCAG's relative luminance: 0 is black, 1 is white. */
function luminanceOf(colour: string): number {
  const channel = (start: number): number => linear(Number.parseInt(colour.slice(start, start + 2), 16) / 255)
  return 0.2126 * channel(1) + 0.7152 * channel(3) + 0.0722 * channel(5)
}

/** sRGB's transfer function backwards. */
function linear(channel: number): number {
  return channel <= 0.04045 ? channel / 12.92 : ((channel + 0.055) / 1.055) ** 2.4
}
