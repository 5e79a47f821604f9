/** Safe HTML. Only `html` creates it, and literals of constants: input from outside is always text. */
export type Html = { readonly html: string }

const ESCAPES: Readonly<Record<string, string>> = {
  '&': '&amp;',
  '<': '&lt;',
  '>': '&gt;',
  '"': '&quot;',
  "'": '&#39;',
}

function escapeHtml(text: string): string {
  return text.replaceAll(/[&<>"']/g, (character) => ESCAPES[character] ?? character)
}

/**
 * A template of HTML. Values are escaped for text and for quoted attributes, except HTML made by this function and
 * lists of it; `undefined` inserts nothing. Attributes are always written in quotes.
 */
export function html(
  parts: TemplateStringsArray,
  ...values: readonly (string | Html | readonly Html[] | undefined)[]
): Html {
  const pieces = parts.map((part, index) => part + render(values[index]))
  return { html: pieces.join('') }
}

function render(value: string | Html | readonly Html[] | undefined): string {
  if (value === undefined) return ''
  if (typeof value === 'string') return escapeHtml(value)
  return 'html' in value ? value.html : value.map((piece) => piece.html).join('')
}
