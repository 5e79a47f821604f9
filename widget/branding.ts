import { CONTRAST_MIN, buttonTextOn, contrastRatio } from '../src/lib/contrast.ts'
import type { Appearance } from './appearance.ts'
import type { Branding } from '../src/wire/settings.ts'

/** The service's default branding (decision 27); with it the payer's light or dark theme stays. */
const DEFAULTS = { primary: '#0b5fff', background: '#ffffff', text: '#111111' }

const COLOUR = /^#[0-9a-f]{6}$/i
const ALLOWED_FONTS = ['system-ui', 'serif', 'sans-serif', 'monospace', 'Arial', 'Georgia', 'Verdana']

/**
 * Applies a merchant's branding, and the page's own look over it. Every value is validated again: only colours, listed
 * fonts and a number become style.
 */
export function applyBranding(
  { colors: own, font: usual }: Branding,
  { colors: page, font = usual, radius }: Appearance = {},
  style: CSSStyleDeclaration,
): void {
  if (radius !== undefined) style.setProperty('--svc-radius', `${radius}px`)
  if (ALLOWED_FONTS.includes(font))
    style.setProperty('--svc-font', font === 'system-ui' ? 'system-ui, sans-serif' : font)
  const { primary, background, text } = { ...own, ...page }
  if (COLOUR.test(primary) && primary.toLowerCase() !== DEFAULTS.primary) {
    style.setProperty('--svc-primary', primary)
    style.setProperty('--svc-on-primary', buttonTextOn(primary))
  }
  if (!COLOUR.test(background) || !COLOUR.test(text)) return
  if (background.toLowerCase() === DEFAULTS.background && text.toLowerCase() === DEFAULTS.text) return
  // Low contrast only causes a warning when it is saved; the payer must still be able to read the payment.
  const readable = contrastRatio(text, background) < CONTRAST_MIN ? buttonTextOn(background) : text
  style.setProperty('--svc-background', background)
  for (const name of ['--svc-text', '--svc-soft']) style.setProperty(name, readable)
  style.setProperty('--svc-line', `${readable}99`)
  style.setProperty('--svc-rule', `${readable}33`)
  style.setProperty('--svc-tint', `${readable}14`)
  style.setProperty('color-scheme', buttonTextOn(background) === '#FFFFFF' ? 'dark' : 'light')
}

/** The logo's address: https, or in the sandbox of this machine, whose policy allows it. */
export function logoOf({ logo_url: logo }: Branding): string | undefined {
  return logo !== null && /^(https:\/\/|http:\/\/(localhost|127\.0\.0\.1)[:/])/i.test(logo) ? logo : undefined
}
