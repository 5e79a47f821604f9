import type { Connection } from './connection.ts'

/* What a shop's developer does wrong without an error. Loaded in the sandbox only, after the first screen. */

type Mounting = Pick<Connection, 'options' | 'token' | 'claims'>

const OPTIONS = ['locale', 'theme', 'noRedirect', 'sameTab', 'appearance']
/** Of the loader: its own, and attributes that it reads itself. */
const KNOWN = new Set([...OPTIONS, 'svc', 'nonce', 'token', 'checkoutToken', 'containerId'])

/** Names that shops try, by their words, and what does what they expect. Other attributes belong to other scripts. */
const MEANT: readonly (readonly [RegExp, string])[] = [
  [
    /^on |\b(success|cancel(led)?|fail(ed|ure)?|events?)\b|\bcallback$/,
    'listen instead: SvcCheckout.mount(…).on("SVC_PAYMENT_SUCCESS", …)',
  ],
  [/\b(lang|language|locales|locali[sz]ation)\b/, 'use locale (data-locale), such as "cy"'],
  [/\b(themes?|dark|scheme)\b/, 'use theme (data-theme): "light", "dark" or "auto"'],
  [/\b(no)?redirects?\b/, 'use noRedirect (data-no-redirect)'],
  [/\b((same|new)?tab|target)$/, 'use sameTab (data-same-tab)'],
  [/\b(colou?rs?|styles?|fonts?|radius|brand(ing)?)\b/, 'use appearance (data-appearance)'],
  [/\b(checkout)?token\b/, 'use token (data-checkout-token)'],
  [/\b(amount|currency|merchant|url|origin|order|reference)\b/, 'it belongs in the token, which your server makes'],
]

/** The words of a name in camel case, so that a part of a word is no match: `originalSrc` is not an origin. */
function wordsOf(name: string): string {
  return name.replaceAll(/[A-Z]/g, ' $&').toLowerCase()
}

const LOCALES = /^(en|cy|de|fr|es|ar-xb)(-|$)/i
/** Also the words of the CSS property, which the loader sends where the shop names no theme. */
const THEMES = /^((light|dark|auto|normal|only)( |$))+$/

/** The least width that the first screen is laid out for, in CSS pixels. */
const WIDTH_PX_MIN = 260

/** Says in the console what is ignored or will fail in live mode, and what to do. */
export function warnOfMisuse({ options, token, claims: { jti } }: Mounting): void {
  for (const warning of [...aboutOptions(options), ...aboutOrder(jti), ...aboutPlace(jti ?? token)])
    console.warn(`svc checkout: ${warning}.`)
}

function aboutOptions(options: Mounting['options']): string[] {
  const warnings: string[] = []
  for (const [name, value] of Object.entries(options)) {
    if (KNOWN.has(name) || value === null) continue
    const [, advice] = MEANT.find(([pattern]) => pattern.test(wordsOf(name))) ?? []
    if (advice !== undefined) warnings.push(`"${name}" is not an option and does nothing: ${advice}`)
  }
  const { locale, theme, noRedirect, sameTab } = options
  if (isGiven(locale) && !LOCALES.test(String(locale)))
    warnings.push(`no locale "${locale}" exists, so the browser's is used: choose en, cy, de, fr or es`)
  if (isGiven(theme) && !THEMES.test(String(theme)))
    warnings.push(`"${theme}" is not a theme, so the checkout is light: choose "light", "dark" or "auto"`)
  for (const [name, value] of Object.entries({ noRedirect, sameTab }))
    if (isGiven(value) && typeof value !== 'boolean')
      warnings.push(`${name} is ${JSON.stringify(value)}, which counts as ${countsAs(name, value)}: use true or false`)
  return warnings
}

function isGiven(value: unknown): boolean {
  return value !== undefined && value !== null
}

/** The loader takes any value that is not empty for `noRedirect`, and the frame only `true` for `sameTab`. */
function countsAs(name: string, value: unknown): boolean {
  return name === 'noRedirect' && Boolean(value)
}

function aboutOrder(jti: string | undefined): string[] {
  if (jti !== undefined) return []
  return ['the token has no jti, and live mode rejects it: put the order number there, so that an order is paid once']
}

function aboutPlace(order: string): string[] {
  const warnings: string[] = []
  // A frame that is not displayed has no width, and may be shown later.
  if (innerWidth > 0 && innerWidth < WIDTH_PX_MIN)
    warnings.push(`its element is ${innerWidth} pixels wide: give it ${WIDTH_PX_MIN} or more`)
  if (isShownTwice(order))
    warnings.push('the order is on this page twice, and a payment begun in one ends that of the other: mount it once')
  return warnings
}

const MARK = 'svcOrder'

/** Checkouts of one service may look at each other, and at no other frame. */
function isShownTwice(order: string): boolean {
  Reflect.set(window, MARK, order)
  for (let index = 0; index < parent.length; index += 1) {
    const other = parent[index]
    try {
      if (other !== undefined && other !== window && Reflect.get(other, MARK) === order) return true
    } catch {
      // A frame of another site.
    }
  }
  return false
}
