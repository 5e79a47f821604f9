/** How the widget looks: `auto` is as the payer's system does. */
export type Theme = 'light' | 'dark' | 'auto'

/**
 * What the merchant chose, or what fits to the page: `light`, `dark` and `auto`, or a CSS `color-scheme`. A page that says
 * nothing of the dark is light, whatever the payer's system prefers.
 */
export function themeOf(value: string | undefined): Theme {
  const keywords = value?.split(' ') ?? []
  if (keywords.includes('auto')) return 'auto'
  if (!keywords.includes('dark')) return 'light'
  return keywords.includes('light') ? 'auto' : 'dark'
}
