import { el } from '../dom.ts'
import type { Hub, Stage } from './hub-context.ts'

/**
 * Shows views in the page's main element. The heading gets the focus, so that screen readers announce the view and the
 * keyboard continues there (WCAG 2.4.3). The first view leaves the focus alone.
 */
export function makeStage(main: HTMLElement, site: string): Hub['show'] {
  let shown: HTMLElement | undefined
  return (title, ...content): Stage => {
    const isFirst = shown === undefined
    const heading = el('h1', { tabindex: -1 }, title)
    const body = el('div', { class: 'view' })
    shown = body
    const fill: Stage['fill'] = (...parts) => {
      const hadFocus = body.contains(document.activeElement)
      body.replaceChildren(el('div', {}, ...parts))
      if (hadFocus) heading.focus()
    }
    fill(...content)
    document.title = title === site ? title : `${title} - ${site}`
    main.replaceChildren(heading, body)
    if (!isFirst) {
      window.scrollTo(0, 0)
      heading.focus({ preventScroll: true })
    }
    return { fill, isCurrent: () => shown === body }
  }
}
