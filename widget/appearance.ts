import type { Theme } from './theme.ts'

/** The look of one page, read: what was not valid is left out. */
export type Appearance = {
  colors?: Partial<Record<(typeof COLOURS)[number], string>>
  font?: string
  /** In whole pixels. */
  radius?: string
}

type Reading = {
  theme: Theme
  /** Passed, because an import of it would split the widget's first script in two. */
  contrastRatio(one: string, other: string): number
}

const COLOURS = ['primary', 'background', 'text'] as const
const FONTS = ['system-ui', 'serif', 'sans-serif', 'monospace', 'Arial', 'Georgia', 'Verdana']
const RADIUS = /^(\d|1\d|2[0-4])$/

/** The least contrast of text on its background (WCAG 1.4.3), and the colours that stand where one is not named. */
const CONTRAST_MIN = 4.5
const LIGHT = { background: '#ffffff', text: '#111111' }
const DARK = { background: '#151a21', text: '#eef2f7' }

/**
 * Reads the look that a page asks for. `dark` has colours of its own for payers with the dark look, which gets none of the
 * others. What can't be read or would make text hard to read is left out, and the console says why.
 */
export function readAppearance(given: unknown, { theme, contrastRatio }: Reading): Appearance {
  const isDark = theme === 'dark' || (theme === 'auto' && matchMedia('(prefers-color-scheme: dark)').matches)
  const fields = fieldsOf(typeof given === 'string' ? parsed(given) : given)
  const { font, radius } = fields
  const read: Appearance = { colors: colorsOf(isDark ? fieldsOf(fields['dark']) : fields, { isDark, contrastRatio }) }
  if (typeof font === 'string' && FONTS.includes(font)) read.font = font
  else if (font !== undefined) complain('font', font, `one of ${FONTS.join(', ')}`)
  if (RADIUS.test(String(radius))) read.radius = String(radius)
  else if (radius !== undefined) complain('radius', radius, 'whole pixels from 0 to 24')
  for (const name of Object.keys(fields))
    if (![...COLOURS, 'dark', 'font', 'radius'].includes(name)) complain(name, '', 'a name from the documentation')
  return read
}

function colorsOf(
  fields: Record<string, unknown>,
  { isDark, contrastRatio }: Pick<Reading, 'contrastRatio'> & { isDark: boolean },
): NonNullable<Appearance['colors']> {
  const colors: NonNullable<Appearance['colors']> = {}
  for (const name of COLOURS) {
    const value = fields[name]
    if (typeof value === 'string' && /^#[0-9a-f]{6}$/i.test(value)) colors[name] = value
    else if (value !== undefined) complain(name, value, 'a colour as #RRGGBB')
  }
  const { background, text } = colors
  if (background === undefined && text === undefined) return colors
  const pair = { ...(isDark ? DARK : LIGHT), ...colors }
  if (contrastRatio(pair.text, pair.background) >= CONTRAST_MIN) return { ...colors, ...pair }
  complain('text', `${pair.text} on ${pair.background}`, `colours with a contrast of at least ${CONTRAST_MIN}:1`)
  const { primary } = colors
  return primary === undefined ? {} : { primary }
}

/** The members of an object; none of anything else. */
const fieldsOf = (value: unknown): Record<string, unknown> => Object(value)

/** The attribute of a page without scripts of its own is JSON. */
function parsed(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    complain('appearance', text, 'JSON')
    return undefined
  }
}

function complain(name: string, value: unknown, expected: string): void {
  console.warn(`svc checkout: appearance "${name}": ${String(value)} is ignored; expected ${expected}`)
}
