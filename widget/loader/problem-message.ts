/** What a payer can do about a problem: try again, or pay on the service's own page. */
export type WayOut = { retry(): void; href: string }

/** A message that screen readers announce at once, with the ways out if there are any. */
export function problemMessage(text: string, wayOut?: WayOut): HTMLElement {
  const textContent = `The checkout can’t start: ${text}`
  const element = make('p', { textContent, role: 'alert' })
  console.error(textContent)
  if (wayOut) {
    const { retry: onclick, href } = wayOut
    element.append(
      ' ',
      make('button', { textContent: 'Try again', type: 'button', onclick }),
      ' ',
      make('a', { textContent: 'Pay on our page', href }),
    )
  }
  return element
}

/** Those that are objects themselves can be set by a text, such as `style`. */
type Properties<Element> = {
  [Name in keyof Element]?: Element[Name] | (Element[Name] extends CSSStyleDeclaration | DOMTokenList ? string : never)
}

/** Creates an element with these properties. */
export function make<Tag extends keyof HTMLElementTagNameMap>(
  tag: Tag,
  properties?: Properties<HTMLElementTagNameMap[Tag]>,
): HTMLElementTagNameMap[Tag] {
  return Object.assign(document.createElement(tag), properties)
}
