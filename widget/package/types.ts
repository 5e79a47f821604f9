/*
 * What a merchant's page sees of the checkout. The loader and the npm package have these types from here, so a change of
 * the script is a change of what is published.
 */

/** The events of a checkout with their payloads. They are DOM events of its element too, with the payload as `detail`. */
export type CheckoutEvents = {
  SVC_WIDGET_READY: { version: string; screen: string; merchantName: string; amount: string; currency: string }
  SVC_BANK_SELECTED: { bankId: string; bankName: string }
  /** The payment is settled. Deliver on the webhook instead: any script in the browser can make this event. */
  SVC_PAYMENT_SUCCESS: { transactionId: string; endToExternalId: string; endToEndId: string }
  /** `message`, for the shop's developer: why the checkout can't be used, and what to do. */
  SVC_PAYMENT_FAILED: { errorCode: string; message?: string }
  SVC_PAYMENT_CANCELLED: { transactionId: string | null; screen: string; returnUrl: string }
  /** The payer goes back to the shop without cancelling: after success, or while the bank takes its time. */
  SVC_RETURN: { transactionId: string | null; screen: string; returnUrl: string }
  /** In whole CSS pixels. */
  SVC_RESIZE: { height: number }
}

export type CheckoutEventType = keyof CheckoutEvents

/**
 * Each as `#RRGGBB`. `background` and `text` count only together, with a contrast of at least 4.5:1; buttons are written in
 * white or black.
 */
export type AppearanceColors = {
  primary?: string | undefined
  background?: string | undefined
  text?: string | undefined
}

/** The look of a checkout on one page, over the merchant's branding. What is not valid is ignored, and the console says why. */
export type CheckoutAppearance = AppearanceColors & {
  font?: 'system-ui' | 'serif' | 'sans-serif' | 'monospace' | 'Arial' | 'Georgia' | 'Verdana' | undefined
  /** The corners of buttons and fields, in whole pixels from 0 to 24. */
  radius?: number | undefined
  /** The colours for payers with the dark look, which gets none of the others. */
  dark?: AppearanceColors | undefined
}

export type MountOptions = {
  /** The order's token, which your server makes. */
  token: string
  /** The checkout's language, such as `cy`; by default the browser's. */
  locale?: string | undefined
  /** `light`, `dark` or `auto` (the payer's system); by default the element's color-scheme. */
  theme?: string | undefined
  /** Whether the page stays when the payer returns to the shop; the shop then handles the events. */
  noRedirect?: boolean | undefined
  /** Whether the payer goes to the bank in this tab, and comes back to the token's returnUrl. */
  sameTab?: boolean | undefined
  /** The look on this page; an attribute has it as JSON. */
  appearance?: CheckoutAppearance | string | undefined
}

export type Mounted = {
  /** Removes the checkout from the page. */
  destroy(): void
  /** Adds a listener for an event and returns the function that removes it. */
  on<Type extends CheckoutEventType>(eventType: Type, listener: (payload: CheckoutEvents[Type]) => void): () => void
}

/** The loader's script, as `window.SvcCheckout` has it. */
export type SvcCheckout = {
  /** The origin of the service whose checkout it is. */
  origin: string
  /**
   * Shows a checkout in an element, given directly or by its id. The same token in the same element returns the
   * existing checkout; another token replaces it.
   * @throws {Error} if the element does not exist
   */
  mount(place: HTMLElement | string, options: MountOptions): Mounted
}

declare global {
  interface Window {
    SvcCheckout?: SvcCheckout
  }
}
