import type { CheckoutEventType, CheckoutEvents } from './package/types.ts'

/*
 * The messages between the loader on the merchant's page and the widget in its frame. Both sides validate messages
 * here, field by field.
 */

/** An event of the contract, or the one more (decisions 39 and 292). */
export type WidgetEvent = {
  [Type in CheckoutEventType]: { eventType: Type; payload: CheckoutEvents[Type] }
}[CheckoutEventType]

/** The fields of each payload: strings, except the height. Those with a question mark may be missing or null. */
const PAYLOADS: Record<CheckoutEventType, string> = {
  SVC_WIDGET_READY: 'version screen merchantName amount currency',
  SVC_BANK_SELECTED: 'bankId bankName',
  SVC_PAYMENT_SUCCESS: 'transactionId endToExternalId endToEndId',
  SVC_PAYMENT_FAILED: 'errorCode message?',
  // The transaction is null before a payment exists.
  SVC_PAYMENT_CANCELLED: 'screen returnUrl transactionId?',
  SVC_RETURN: 'screen returnUrl transactionId?',
  SVC_RESIZE: 'height',
}

/** Validates an event of the frame; null for anything else. Unknown fields are dropped. */
export function readEvent(data: unknown): WidgetEvent | null {
  const { eventType, payload } = fieldsOf(data)
  if (typeof eventType !== 'string' || !Object.hasOwn(PAYLOADS, eventType)) return null
  const given = fieldsOf(payload)
  const read: Record<string, unknown> = {}
  for (const part of PAYLOADS[eventType as CheckoutEventType].split(' ')) {
    const [name = '', mark] = part.split('?')
    const value = given[name]
    const isGood =
      name === 'height' ? Number.isFinite(value) : typeof value === 'string' || (mark === '' && value == null)
    if (!isGood) return null
    if (value !== undefined) read[name] = value
  }
  return { eventType, payload: read } as WidgetEvent
}

/**
 * The init message, sent with a port for the frame's requests to the page. The theme is `light`, `dark` or `auto`, or
 * the CSS `color-scheme` of the container, such as `light dark`.
 */
export type Init = {
  svc: 'init'
  nonce: string
  token: string
  locale: string | undefined
  theme: string | undefined
  /** Whether the payer goes to the bank in the shop's tab. */
  sameTab: boolean | undefined
  /** The look that the shop asks for, not read yet (appearance.ts). */
  appearance: unknown
}

export function readInit(data: unknown, nonce: string): Init | null {
  const { svc, nonce: given, token, locale, theme, sameTab, appearance } = fieldsOf(data)
  if (svc !== 'init' || given !== nonce || typeof token !== 'string') return null
  return { svc, nonce, token, locale: textOf(locale), theme: textOf(theme), sameTab: sameTab === true, appearance }
}

function textOf(value: unknown): string | undefined {
  return typeof value === 'string' ? value : undefined
}

/** The frame's requests on its port: none yet, protect the payer from leaving, or navigate. */
export type PortRequest = { guard?: boolean } | { leave: string }

/** The fields of a message; none if it is not an object. */
export function fieldsOf(data: unknown): Record<string, unknown> {
  // `Object()` turns other values into objects without these fields.
  return Object(data)
}
