import { CONTRAST_MIN, buttonTextOn, contrastRatio } from '../src/lib/contrast.ts'
import type { Appearance } from './appearance.ts'
import type { Branding } from '../src/wire/settings.ts'

/** The service's default branding (decision 27), the primary colour and the others; with it the payer's theme stays. */
const DEFAULT_PRIMARY = /^#0b5fff$/i
const DEFAULT_PAGE = /^#ffffff#111111$/i

/** The least contrast of a button with the page around it (WCAG 1.4.11). */
const BUTTON_CONTRAST_MIN = 3

const COLOUR = /^#[0-9a-f]{6}$/i
const ALLOWED_FONTS = ['system-ui', 'serif', 'sans-serif', 'monospace', 'Arial', 'Georgia', 'Verdana']

/**
 * Applies a merchant's branding, and the page's own look over it. Every value is validated again: only colours, listed
 * fonts and a number become style.
 */
export function applyBranding(
  { colors: own, font: usual }: Branding,
  { colors: look, font = usual, radius }: Appearance = {},
): void {
  const { style } = document.documentElement
  const set = (name: string, value: string): void => style.setProperty(`--svc-${name}`, value)
  if (radius) set('radius', `${radius}px`)
  if (ALLOWED_FONTS.includes(font)) set('font', font === 'system-ui' ? 'system-ui, sans-serif' : font)
  const { primary, background, text } = { ...own, ...look }
  if (COLOUR.test(primary) && !DEFAULT_PRIMARY.test(primary)) {
    set('primary', primary)
    set('on-primary', buttonTextOn(primary))
  }
  if (COLOUR.test(background) && COLOUR.test(text) && !DEFAULT_PAGE.test(background + text)) {
    // Low contrast only causes a warning when it is saved; the payer must still be able to read the payment.
    const readable = contrastRatio(text, background) < CONTRAST_MIN ? buttonTextOn(background) : text
    set('background', background)
    set('text', readable)
    set('soft', readable)
    set('line', `${readable}99`)
    set('rule', `${readable}33`)
    set('tint', `${readable}14`)
    style.setProperty('color-scheme', buttonTextOn(background) === '#FFFFFF' ? 'dark' : 'light')
  }
  // As shown, since the service's own colours depend on the theme.
  const shown = (name: string): string => getComputedStyle(document.documentElement).getPropertyValue(`--svc-${name}`)
  if (contrastRatio(shown('primary'), shown('background')) < BUTTON_CONTRAST_MIN) set('edge', 'var(--svc-text)')
}

/** The logo's address: https, or in the sandbox of this machine, whose policy allows it. */
export function logoOf({ logo_url: logo }: Branding): string | undefined {
  return logo !== null && /^(https:\/\/|http:\/\/(localhost|127\.0\.0\.1)[:/])/i.test(logo) ? logo : undefined
}
