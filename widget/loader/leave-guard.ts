/**
 * Keeps the payer on the page while a payment is under way.
 * @param then what to do once the guard is gone; going back over its entry of the history takes a moment
 */
export type LeaveGuard = (on: boolean, then?: () => void) => void

/**
 * The browser asks before the page is closed or left, and its Back button leads to an entry of the history that is this
 * page again. Both end with the guard. It never listens to `unload`, which would keep the page out of the cache that
 * makes Back instant.
 */
export function makeLeaveGuard(mark: string): LeaveGuard {
  let isOn = false
  let isGone: Promise<unknown> | undefined
  const ask = (event: BeforeUnloadEvent): void => {
    event.preventDefault()
    event.returnValue = ''
  }
  // What the page's own router keeps in the entry stays in it.
  const hold = (): void => history.pushState({ ...history.state, svc: mark }, '')
  return async (on, then) => {
    if (on !== isOn) {
      isOn = on
      const change = on ? window.addEventListener : window.removeEventListener
      change('beforeunload', ask as EventListener)
      change('popstate', hold)
      if (on) hold()
      else if (history.state?.svc === mark) {
        isGone = new Promise((done) => addEventListener('popstate', done, { once: true }))
        history.back()
      }
    }
    await isGone
    then?.()
  }
}
