/** A child of an element: text is always inserted as text, never as markup. */
export type Child = Node | string | null | undefined | false

type Props = Readonly<Record<string, string | boolean | number | undefined | ((event: Event) => void)>>

/**
 * Creates an element. A function is a listener (`onclick`), `true` an attribute without a value; false and undefined
 * are left out. Nothing parses markup, so text can't become HTML.
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
