import { readClaims } from '../claims.ts'
import type { Claims } from '../claims.ts'
import type { WidgetEvent } from '../messages.ts'
import type { MountOptions, Mounted } from '../package/types.ts'
import { openFrame } from './open-frame.ts'
import { problemMessage } from './problem-message.ts'
import type { WayOut } from './problem-message.ts'

/** Shows the checkout of `checkoutOrigin` in a container, or the reason why it can't be shown. */
export function mountCheckout(
  container: HTMLElement,
  checkoutOrigin: string,
  options: MountOptions,
  onDestroyed: () => void,
): Mounted {
  const listening = new AbortController()
  const claims = readClaims(options.token)
  const reason = rejectionReason(claims, checkoutOrigin)
  let close: (() => void) | undefined

  /** Dispatches a validated event to the shop's page. */
  const dispatch = ({ eventType, payload }: WidgetEvent): void => {
    container.dispatchEvent(new CustomEvent(eventType, { bubbles: true, detail: payload }))
  }

  /** The event follows a moment later, because the caller of `mount` could not add a listener yet. */
  const showFailure = (text: string, errorCode: string, wayOut?: WayOut): void => {
    container.replaceChildren(problemMessage(text, wayOut))
    setTimeout(
      () =>
        listening.signal.aborted ||
        dispatch({ eventType: 'SVC_PAYMENT_FAILED', payload: { errorCode, message: text } }),
    )
  }

  const open = (): void => {
    if (reason) return showFailure(reason, claims ? 'ORIGIN_MISMATCH' : 'CHECKOUT_TOKEN_INVALID')
    const href = `${checkoutOrigin}/checkout?${new URLSearchParams({ token: options.token })}`
    const fail = (): void => showFailure('it did not load.', 'WIDGET_LOAD_FAILED', { retry: open, href })
    // An undefined theme is none, also where the options have the member.
    const theme = options.theme ?? getComputedStyle(container).colorScheme
    const opened = openFrame(checkoutOrigin, claims as Claims, { ...options, theme }, { dispatch, fail })
    close = opened.close
    container.replaceChildren(opened.frame)
  }

  open()
  return {
    destroy() {
      // A second call must not clear a container that another checkout may use by now.
      if (listening.signal.aborted) return
      listening.abort()
      close?.()
      container.replaceChildren()
      onDestroyed()
    },
    on(eventType, listener) {
      const onEvent = (event: Event): void => listener((event as CustomEvent).detail)
      container.addEventListener(eventType, onEvent, { signal: listening.signal })
      return () => container.removeEventListener(eventType, onEvent)
    },
  }
}

/** Why the checkout can't be shown on this page; empty if it can. */
function rejectionReason(claims: Claims | null, checkoutOrigin: string): string {
  const here = location.origin
  if (!claims) return 'its token is missing or can’t be read.'
  if (here === checkoutOrigin) return 'the shop needs another origin.'
  if (claims.callbackOrigin !== here) return `its token is for ${claims.callbackOrigin}, and this page is ${here}.`
  return ''
}
