import { el } from './dom.ts'
import type { Phase } from './flow.ts'
import { SCREEN_OF } from './screens/all.ts'
import { helpSection, orderSummary } from './screens/parts.ts'
import type { View } from './screens/view.ts'

/** Short-lived phases keep the previous screen's height, so that the parent page does not jump. */
const TRANSIENT_PHASES: readonly Phase[] = ['start', 'creating', 'cancelling']

/** Shows screens. */
export type Stage = {
  /** `news` is announced: for changes within the same screen. */
  show(view: View, news?: string): void
}

/**
 * Shows screens in an element. A new screen's heading gets the focus once the payer has interacted with the frame;
 * until then the focus belongs to the parent page.
 */
export function makeStage(root: HTMLElement): Stage {
  const live = el('p', { class: 'hidden', role: 'status' })
  let shown: Phase | undefined
  let isUsed = false
  for (const type of ['pointerdown', 'keydown']) {
    document.addEventListener(type, () => (isUsed = true), { capture: true, once: true })
  }
  return {
    show(view, news) {
      const hadFocus = root.contains(document.activeElement)
      const screen = SCREEN_OF[view.state.phase](view)
      const title = screen.querySelector('h1')
      const isNew = view.state.phase !== shown
      shown = view.state.phase
      root.style.minBlockSize = TRANSIENT_PHASES.includes(shown) ? `${root.offsetHeight}px` : ''
      root.replaceChildren(
        ...[orderSummary(view), screen, helpSection(view), live].filter((part) => part !== undefined),
      )
      const name = title?.textContent ?? ''
      document.title = name
      // The parent page has a main element too; labels distinguish them.
      root.setAttribute('aria-label', name)
      if ((isNew && isUsed) || hadFocus) title?.focus()
      else if (isNew) live.textContent = name
      if (news !== undefined) live.textContent = news
    },
  }
}
