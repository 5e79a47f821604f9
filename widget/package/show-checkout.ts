import { loadCheckout } from './load-checkout.ts'
import { warnOfToken, watchFramePolicy } from './misuse.ts'
import type { TokenWatch } from './misuse.ts'
import type { CheckoutAppearance, CheckoutEventType, CheckoutEvents, MountOptions, Mounted } from './types.ts'

/** The height of the checkout's first screen, kept so that the page does not jump when it appears. */
export const HEIGHT_PX = 560

/** What the link says until the checkout is there. */
export const LINK_TEXT = 'Pay by bank on our page'

/** The events by the names that components have for them. */
export const EVENTS = {
  ready: 'SVC_WIDGET_READY',
  bankSelected: 'SVC_BANK_SELECTED',
  success: 'SVC_PAYMENT_SUCCESS',
  failed: 'SVC_PAYMENT_FAILED',
  cancelled: 'SVC_PAYMENT_CANCELLED',
  return: 'SVC_RETURN',
  resize: 'SVC_RESIZE',
} as const satisfies Record<string, CheckoutEventType>

export type EventName = keyof typeof EVENTS

/** The payload of an event, by its name in components. */
export type PayloadOf<Name extends EventName> = CheckoutEvents[(typeof EVENTS)[Name]]

/**
 * What a component is given: the service's address, and the options of its script. These are read when the checkout of a
 * token begins; a later change would throw the payer back to the first screen.
 */
export type CheckoutProps = Omit<MountOptions, 'token' | 'appearance'> & {
  /** The service's address, such as `https://pay.example`. */
  origin: string
  /** The order's token, which your server makes. Until there is one, the place is kept. */
  token?: string | null | undefined
  /** The look on this page. */
  appearance?: CheckoutAppearance | undefined
  /** What the link to the service's own page says, for payers whose browser can't load the checkout. */
  linkText?: string | undefined
}

export type ShowOptions = MountOptions & {
  origin: string
  onEvent<Name extends EventName>(name: Name, payload: PayloadOf<Name>): void
  /** Called if the checkout's script does not load; the element keeps what it has. */
  onError(error: Error): void
  /** Of the component, over all its tokens. */
  watch: TokenWatch
}

/** The options of a component as they are now: the look as text, which a later change of the object does not reach. */
export function optionsOf({
  locale,
  theme,
  noRedirect,
  sameTab,
  appearance,
}: CheckoutProps): Omit<MountOptions, 'token'> {
  return { locale, theme, noRedirect, sameTab, appearance: JSON.stringify(appearance) }
}

/** Loads the script and shows a checkout in an element. Returns the function that removes it. */
export function showCheckout(
  container: HTMLElement,
  { origin, onEvent, onError, watch, ...options }: ShowOptions,
): () => void {
  let mounted: Mounted | undefined
  let isOver = false
  watch.began(options.token)
  warnOfToken(options.token)
  const stopWatching = watchFramePolicy(origin)
  loadCheckout(origin)
    .then((checkout) => {
      if (isOver || checkout === null) return
      const shown = checkout.mount(container, options)
      const listen = <Name extends EventName>(name: Name): unknown =>
        shown.on(EVENTS[name], (payload) => {
          watch.heard(name)
          onEvent(name, payload)
        })
      for (const name of Object.keys(EVENTS) as EventName[]) listen(name)
      mounted = shown
    })
    .catch((error: Error) => {
      if (!isOver) onError(error)
    })
  return () => {
    isOver = true
    stopWatching()
    mounted?.destroy()
  }
}

/** The service's own page of a checkout; undefined where the address is not valid, which loading the script reports. */
export function checkoutPageUrl(origin: string, token: string): string | undefined {
  if (!/^https?:\/\//i.test(origin)) return undefined
  return `${origin.replace(/\/$/, '')}/checkout?${new URLSearchParams({ token })}`
}

/** For a shop that has no handler for it: a page that stays empty should say why. */
export function reportError({ message }: Error): void {
  console.error(`The checkout can't start: ${message}`)
}
