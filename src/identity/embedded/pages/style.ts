/** The look of a realm's pages. A merchant's own colours and logo replace the defaults where they are set. */
export type Theme = {
  displayName: string
  colors?: Partial<Record<ColorName, string>>
  /** An https address. */
  logoUrl?: string
}

export type ColorName = 'page' | 'card' | 'text' | 'soft' | 'line' | 'accent' | 'onAccent'

/** The theme of a realm: its name with the default colours. */
export function themeOf(realm: { display_name: string }): Theme {
  return { displayName: realm.display_name }
}

/** Colours with readable contrast in light and dark mode (WCAG 2.2 AA). */
const LIGHT = `
:root { color-scheme: light; --page: #f3f5f8; --card: #fff; --text: #16202e; --soft: #556274; --line: #d9dfe7;
  --accent: #0b5cad; --on-accent: #fff; --wrong: #a8201a; }`
const DARK = `
@media (prefers-color-scheme: dark) { :root { color-scheme: dark; --page: #0f151d; --card: #19222d; --text: #edf1f6; --soft: #a9b5c4;
  --line: #33404f; --accent: #7db8f5; --on-accent: #0b1a2a; --wrong: #ff9d94; } }`

/** Large targets, visible focus, one column at any width, and no script needed. */
const LAYOUT = `
* { box-sizing: border-box; }
body { margin: 0; min-height: 100vh; display: grid; place-items: start center; padding: 8vh 1rem 2rem;
  background: var(--page); color: var(--text); font: 1rem/1.5 system-ui, sans-serif; }
main { width: 100%; max-width: 26rem; background: var(--card); border: 1px solid var(--line); border-radius: 1rem;
  padding: 1.75rem; overflow-wrap: anywhere; }
.brand { display: flex; align-items: center; gap: .6rem; margin: 0 0 1.25rem; color: var(--soft); font-weight: 600; }
.logo { max-height: 2rem; max-width: 8rem; }
h1 { margin: 0 0 .5rem; font-size: 1.4rem; line-height: 1.3; }
h2 { margin: 1.75rem 0 .25rem; font-size: 1.1rem; line-height: 1.3; }
p { margin: 0 0 1rem; }
[hidden] { display: none; }
form { margin: 1.25rem 0 0; }
label { display: block; font-weight: 600; }
input { display: block; width: 100%; min-height: 2.75rem; margin: .25rem 0 1rem; padding: 0 .75rem;
  border: 1px solid var(--soft); border-radius: .6rem; background: var(--card); color: var(--text); font: inherit; }
input[readonly] { border-color: var(--line); color: var(--soft); }
input[aria-invalid="true"] { border: 2px solid var(--wrong); }
input.code { font-family: ui-monospace, monospace; font-size: 1.25rem; letter-spacing: .1em; text-transform: uppercase; }
.hint { margin: -.6rem 0 1rem; color: var(--soft); font-size: .875rem; }
.wrong { margin: 1rem 0 0; padding: .75rem 1rem; border: 1px solid var(--wrong); border-radius: .6rem; color: var(--wrong); }
.wrong:empty { display: none; }
.code-shown { margin: .25rem 0 1.25rem; font-family: ui-monospace, monospace; font-size: 1.75rem; font-weight: 700;
  letter-spacing: .08em; }
button, a.button { display: grid; place-items: center; width: 100%; min-height: 3rem; margin-top: .75rem;
  border: 2px solid var(--accent); border-radius: .6rem; background: transparent; color: var(--accent); font: inherit;
  font-weight: 600; text-decoration: none; cursor: pointer; }
button.main, a.button { background: var(--accent); color: var(--on-accent); }
a { color: var(--accent); }
:focus-visible { outline: 3px solid var(--accent); outline-offset: 1px; }
button:focus-visible, a.button:focus-visible { outline-color: var(--text); outline-offset: 2px; }
kbd { display: block; margin: .25rem 0 1rem; padding: .6rem .75rem; border: 1px solid var(--line); border-radius: .6rem;
  background: var(--page); font-family: ui-monospace, monospace; font-size: .9rem; }
.qr { display: block; width: 14rem; max-width: 100%; margin: 0 auto 1rem; }
.codes { columns: 2; margin: 0 0 1rem; padding: 0; list-style: none; font-family: ui-monospace, monospace; font-size: .9rem; }
main > :last-child { margin-bottom: 0; }
@media (max-width: 30rem) { body { padding-top: 1rem; } main { padding: 1.5rem 1.25rem; } }
.note { margin: 1.25rem 0 0; color: var(--soft); font-size: .875rem; }
`

const COLOR = /^#[0-9a-f]{6}$/i
const VARIABLES: ReadonlyMap<string, string> = new Map<ColorName, string>([
  ['page', '--page'],
  ['card', '--card'],
  ['text', '--text'],
  ['soft', '--soft'],
  ['line', '--line'],
  ['accent', '--accent'],
  ['onAccent', '--on-accent'],
])

/**
 * The complete style sheet. A colour that is not written as #rrggbb could contain any CSS and is left out. Custom
 * colours disable dark mode: colours chosen for a light page are not readable on a dark one.
 */
export function stylesOf({ colors = {} }: Theme): string {
  const own = Object.entries<string | undefined>(colors).flatMap(([name, color]) => {
    const variable = VARIABLES.get(name)
    return variable !== undefined && color !== undefined && COLOR.test(color) ? [`${variable}: ${color};`] : []
  })
  return own.length === 0 ? LIGHT + DARK + LAYOUT : `${LIGHT}\n:root { ${own.join(' ')} }${LAYOUT}`
}

/** The logo's URL; undefined unless it is an https address. */
export function logoOf({ logoUrl }: Theme): URL | undefined {
  if (logoUrl === undefined || !URL.canParse(logoUrl)) return undefined
  const address = new URL(logoUrl)
  return address.protocol === 'https:' && /^[a-z0-9.-]+$/.test(address.hostname) ? address : undefined
}
