import { readClaims } from '../claims.ts'
import type { Claims } from '../claims.ts'
import type { WidgetEvent, WidgetEventType, WidgetEvents } from '../messages.ts'
import { openFrame } from './open-frame.ts'
import { problemMessage } from './problem-message.ts'

export type MountOptions = {
  token: string
  /** The language of the checkout, such as `cy`; the browser's where it is not given. */
  locale?: string | undefined
  /** `light`, `dark` or `auto`, which is as the payer's system does; what fits to the element's color-scheme otherwise. */
  theme?: string | undefined
  /** Whether the page stays when the payer goes back to the shop; the shop then listens to the events. */
  noRedirect?: boolean | undefined
}

export type Mounted = {
  /** Takes the checkout off the page. */
  destroy(): void
  /** Hears of an event of the contract; what comes back ends that. */
  on<Type extends WidgetEventType>(eventType: Type, listener: (payload: WidgetEvents[Type]) => void): () => void
}

/** Shows the checkout of `checkoutOrigin` in a container, or in words why it can't be shown. */
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

  /** The shop hears of an event as of any other on its page; none but those that were checked come here. */
  const dispatch = ({ eventType, payload }: WidgetEvent): void => {
    container.dispatchEvent(new CustomEvent(eventType, { bubbles: true, detail: payload }))
  }

  /** The page hears of it a moment later: who has just mounted this could not listen yet. */
  const showFailure = (text: string, errorCode: string, retry?: () => void): void => {
    container.replaceChildren(problemMessage(text, retry))
    setTimeout(() => listening.signal.aborted || dispatch({ eventType: 'SVC_PAYMENT_FAILED', payload: { errorCode } }))
  }

  const open = (): void => {
    if (!claims || reason) return showFailure(reason, claims ? 'ORIGIN_MISMATCH' : 'CHECKOUT_TOKEN_INVALID')
    const fail = (): void => showFailure('it did not load.', 'WIDGET_LOAD_FAILED', open)
    const opened = openFrame({
      theme: getComputedStyle(container).colorScheme,
      ...options,
      checkoutOrigin,
      claims,
      dispatch,
      fail,
    })
    close = opened.close
    container.replaceChildren(opened.frame)
  }

  open()
  return {
    destroy() {
      // A second time it would empty what may hold another checkout by now.
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

/** Why a checkout is not shown on this page; no text where it may be. */
function rejectionReason(claims: Claims | null, checkoutOrigin: string): string {
  const here = location.origin
  if (!claims) return 'its token is missing or can’t be read.'
  if (here === checkoutOrigin) return 'the shop must have another origin.'
  if (claims.callbackOrigin !== here) return `its token is for ${claims.callbackOrigin}, and this page is ${here}.`
  return ''
}
