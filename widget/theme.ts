/** The theme: `auto` follows the payer's system. */
export type Theme = 'light' | 'dark' | 'auto'

/**
 * The theme of `light`, `dark`, `auto` or a CSS `color-scheme`. A page that does not mention dark is light, whatever
 * the payer's system prefers.
 */
export function themeOf(value: string | undefined): Theme {
  const keywords = value?.split(' ') ?? []
  if (keywords.includes('auto')) return 'auto'
  if (!keywords.includes('dark')) return 'light'
  return keywords.includes('light') ? 'auto' : 'dark'
}
