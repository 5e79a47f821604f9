import { el } from './dom.ts'
import type { Phase } from './flow.ts'
import { SCREEN_OF } from './screens/all.ts'
import { helpSection, orderSummary } from './screens/parts.ts'
import type { View } from './screens/view.ts'

/** What is there for a moment only keeps the height of the screen before it, or the page around the frame would jump. */
const TRANSIENT_PHASES: readonly Phase[] = ['start', 'creating', 'cancelling']

/** Where screens are shown. */
export type Stage = {
  /** `news` is read out by itself: for what changes while the screen stays. */
  show(view: View, news?: string): void
}

/**
 * Shows screens in an element. A new screen's heading takes the focus, once the payer has done something in here: until then
 * the focus belongs to the page around the frame.
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
      // The page around the frame has a main part too; names tell them apart.
      root.setAttribute('aria-label', name)
      if ((isNew && isUsed) || hadFocus) title?.focus()
      else if (isNew) live.textContent = name
      if (news !== undefined) live.textContent = news
    },
  }
}
