/** What a payer can do about a problem: try again, or pay on the service's own page. */
export type WayOut = { retry(): void; href: string }

/** A message that screen readers announce at once, with the ways out if there are any. */
export function problemMessage(text: string, wayOut?: WayOut): HTMLElement {
  const textContent = `The checkout can’t start: ${text}`
  const element = make('p', { role: 'alert', textContent })
  console.error(textContent)
  if (wayOut) {
    const { retry: onclick, href } = wayOut
    const button = make('button', { type: 'button', textContent: 'Try again', onclick })
    element.append(' ', button, ' ', make('a', { href, textContent: 'Pay on our page' }))
  }
  return element
}

/** Creates an element with these properties. */
export function make<Tag extends keyof HTMLElementTagNameMap>(
  tag: Tag,
  properties?: Partial<HTMLElementTagNameMap[Tag]>,
): HTMLElementTagNameMap[Tag] {
  return Object.assign(document.createElement(tag), properties)
}
