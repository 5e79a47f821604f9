/** What a child of an element can be: text is always text, never markup. */
export type Child = Node | string | null | undefined | false

type Props = Readonly<Record<string, string | boolean | number | undefined | ((event: Event) => void)>>

/**
 * Makes an element. A function is a listener (`onclick`), `true` an attribute without a value, and what is false or
 * undefined is left out. Nothing here parses markup, so no text can become any.
 */
export function el<Tag extends keyof HTMLElementTagNameMap>(
  tag: Tag,
  props: Props = {},
  ...children: readonly (Child | readonly Child[])[]
): HTMLElementTagNameMap[Tag] {
  const element = document.createElement(tag)
  for (const [name, value] of Object.entries(props)) {
    if (typeof value === 'function') element.addEventListener(name.slice(2), value)
    else if (value === true) element.setAttribute(name, '')
    else if (value !== undefined && value !== false) element.setAttribute(name, String(value))
  }
  for (const child of children.flat() as Child[]) {
    if (child !== null && child !== undefined && child !== false) element.append(child)
  }
  return element
}
