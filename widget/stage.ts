import { el } from './dom.ts'
import type { Phase } from './flow.ts'
import { SCREEN_OF } from './screens/all.ts'
import { helpSection, orderSummary } from './screens/parts.ts'
import type { View } from './screens/view.ts'

/** Short-lived phases keep the previous screen's height, so that the parent page does not jump. */
const TRANSIENT_PHASES: readonly Phase[] = ['start', 'creating', 'cancelling', 'switching']

/** The second click of a double click lands within this time of the first; so does a second tap. */
const STRAY_CLICK_MS = 400

/** A frame loses the focus at most this long before its tab is hidden, if it is with the tab. */
const LEFT_TOGETHER_MS = 500

/** Shows screens. */
export type Stage = {
  /** `news` is announced: for changes within the same screen. */
  show(view: View, news?: string): void
}

/**
 * Shows screens in an element. A new screen's heading gets the focus once the payer has interacted with the frame, and
 * while the payer is there: otherwise the focus belongs to the parent page.
 */
export function makeStage(root: HTMLElement): Stage {
  const live = el('p', { class: 'hidden', role: 'status' })
  let shown: Phase | undefined
  let isUsed = false
  let blurredAt = -Infinity
  let isAway = false
  let timer = 0
  // A press that began on the screen before ends here too. Keys and assistive technology click without a count.
  const ignoreStray = (event: Event): void => {
    if (timer === 0 || (event as MouseEvent).detail === 0) return
    event.preventDefault()
    event.stopPropagation()
  }
  root.addEventListener('click', ignoreStray, true)
  /** Keeps a double click on the screen before from choosing something on the new one. */
  const pausePointer = (): void => {
    clearTimeout(timer)
    root.style.pointerEvents = 'none'
    timer = setTimeout(() => {
      timer = 0
      root.style.pointerEvents = ''
    }, STRAY_CLICK_MS)
  }
  for (const type of ['pointerdown', 'keydown']) {
    document.addEventListener(type, () => (isUsed = true), { capture: true, once: true })
  }
  window.addEventListener('blur', () => (blurredAt = performance.now()))
  document.addEventListener('visibilitychange', () => {
    isAway = document.hidden && performance.now() - blurredAt < LEFT_TOGETHER_MS
  })
  /** Whether the payer is in the frame and not in a field of the shop, or has just gone from here to the bank's tab. */
  const isHere = (): boolean => document.hasFocus() || isAway
  return {
    show(view, news) {
      const hadFocus = root.contains(document.activeElement)
      const screen = SCREEN_OF[view.state.phase](view)
      const title = screen.querySelector('h1')
      const isNew = view.state.phase !== shown
      shown = view.state.phase
      if (isNew) pausePointer()
      root.style.minBlockSize = TRANSIENT_PHASES.includes(shown) ? `${root.offsetHeight}px` : ''
      root.replaceChildren(
        ...[orderSummary(view), screen, helpSection(view), live].filter((part) => part !== undefined),
      )
      const name = title?.textContent ?? ''
      document.title = name
      // The parent page has a main element too; labels distinguish them.
      root.setAttribute('aria-label', name)
      const takesFocus = isHere() && ((isNew && isUsed) || hadFocus)
      if (takesFocus) title?.focus()
      // A heading with the focus is read out, and what was said of the screen before is over.
      if (isNew) live.textContent = takesFocus ? '' : name
      if (news !== undefined) live.textContent = news
    },
  }
}
