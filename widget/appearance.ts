/** The look of one page, read: what was not valid is left out. */
export type Appearance = {
  colors?: Partial<Record<(typeof COLOURS)[number], string>>
  font?: string
  /** In whole pixels. */
  radius?: string
}

type Reading = {
  /** Whether the payer sees the dark look. */
  isDark: boolean
  /** Passed, because an import of it would split the widget's first script in two. */
  contrastRatio(one: string, other: string): number
}

const COLOURS = ['primary', 'background', 'text'] as const
const FONTS = ['system-ui', 'serif', 'sans-serif', 'monospace', 'Arial', 'Georgia', 'Verdana']
const RADIUS = /^(\d|1\d|2[0-4])$/

/** The least contrast of text on its background (WCAG 1.4.3). */
const CONTRAST_MIN = 4.5

/**
 * Reads the look that a page asks for. `dark` has colours of its own for payers with the dark look, which gets none of the
 * others. What can't be read or would make text hard to read is left out, and the console says why.
 */
export function readAppearance(given: unknown, { isDark, contrastRatio }: Reading): Appearance {
  const fields = fieldsOf(typeof given === 'string' ? parsed(given) : given)
  const { font, radius } = fields
  const read: Appearance = { colors: colorsOf(isDark ? fieldsOf(fields['dark']) : fields, contrastRatio) }
  if (typeof font === 'string' && FONTS.includes(font)) read.font = font
  else if (font !== undefined) complain('font', font, `one of ${FONTS.join(', ')}`)
  if (RADIUS.test(String(radius))) read.radius = String(radius)
  else if (radius !== undefined) complain('radius', radius, 'whole pixels from 0 to 24')
  for (const name of Object.keys(fields))
    if (![...COLOURS, 'dark', 'font', 'radius'].includes(name)) complain(name, '', 'a name from the documentation')
  return read
}

/** Text and background count together: beside a colour of the merchant's branding one alone might not be readable. */
function colorsOf(
  fields: Record<string, unknown>,
  contrastRatio: Reading['contrastRatio'],
): NonNullable<Appearance['colors']> {
  const colors: NonNullable<Appearance['colors']> = {}
  for (const name of COLOURS) {
    const value = fields[name]
    if (typeof value === 'string' && /^#[0-9a-f]{6}$/i.test(value)) colors[name] = value
    else if (value !== undefined) complain(name, value, 'a colour as #RRGGBB')
  }
  const { primary, background, text } = colors
  if (background === undefined && text === undefined) return colors
  if (background === undefined) complain('text', text, '"background" beside it')
  else if (text === undefined) complain('background', background, '"text" beside it')
  else if (contrastRatio(text, background) >= CONTRAST_MIN) return colors
  else complain('text', `${text} on ${background}`, `colours with a contrast of at least ${CONTRAST_MIN}:1`)
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
