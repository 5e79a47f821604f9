/**
 * Protects the payer from leaving the page during a payment.
 * @param then runs after the guard is removed; going back over its history entry takes a moment
 */
export type LeaveGuard = (on: boolean, then?: () => void) => void

/**
 * The browser asks before the page is closed or left, and Back leads to a history entry of this same page. Both end
 * with the guard. It never listens to `unload`, which would disable the back-forward cache.
 */
export function makeLeaveGuard(mark: string): LeaveGuard {
  let isOn = false
  let isGone: Promise<unknown> | undefined
  const ask = (event: BeforeUnloadEvent): void => {
    event.preventDefault()
    event.returnValue = ''
  }
  // Keeps the state of the page's own router.
  const hold = (): void => history.pushState({ ...history.state, svc: mark }, '')
  return async (on, then) => {
    if (on !== isOn) {
      isOn = on
      const change = on ? addEventListener : removeEventListener
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
