/*
 * What the loader on the merchant's page and the widget in its frame say to each other. Either side reads the other's
 * messages here, by hand: nothing that was not looked at goes further.
 */

/** The events of the contract, with their payloads (decision 39). */
export type WidgetEvents = {
  SVC_WIDGET_READY: { version: string; screen: string; merchantName: string; amount: string; currency: string }
  SVC_BANK_SELECTED: { bankId: string; bankName: string }
  SVC_PAYMENT_SUCCESS: { transactionId: string; endToExternalId: string; endToEndId: string }
  SVC_PAYMENT_FAILED: { errorCode: string }
  SVC_PAYMENT_CANCELLED: { transactionId: string | null; screen: string; returnUrl: string }
  /** In whole CSS pixels. */
  SVC_RESIZE: { height: number }
}
export type WidgetEventType = keyof WidgetEvents
export type WidgetEvent = {
  [Type in WidgetEventType]: { eventType: Type; payload: WidgetEvents[Type] }
}[WidgetEventType]

/** The fields of each payload, all of them text but for the height, and for what a note says. */
const PAYLOADS: Record<WidgetEventType, string> = {
  SVC_WIDGET_READY: 'version screen merchantName amount currency',
  SVC_BANK_SELECTED: 'bankId bankName',
  SVC_PAYMENT_SUCCESS: 'transactionId endToExternalId endToEndId',
  SVC_PAYMENT_FAILED: 'errorCode',
  // The transaction may be null: there may be none yet.
  SVC_PAYMENT_CANCELLED: 'screen returnUrl transactionId',
  SVC_RESIZE: 'height',
}

/** Reads an event of the frame: null for anything else. Only the fields that are known come through. */
export function readEvent(data: unknown): WidgetEvent | null {
  const { eventType, payload } = fieldsOf(data)
  if (typeof eventType !== 'string' || !Object.hasOwn(PAYLOADS, eventType)) return null
  const given = fieldsOf(payload)
  const read: Record<string, unknown> = {}
  for (const name of PAYLOADS[eventType as WidgetEventType].split(' ')) {
    const value = given[name]
    const isGood =
      name === 'height'
        ? Number.isFinite(value)
        : typeof value === 'string' ||
          (value === null && eventType === 'SVC_PAYMENT_CANCELLED' && name === 'transactionId')
    if (!isGood) return null
    read[name] = value
  }
  return { eventType, payload: read } as WidgetEvent
}

/** The frame is ready to hear what it is to do. */
export type Hello = { svc: 'hello'; nonce: string }

/**
 * What the frame is to do. A port comes with it, on which the frame asks for what only the page around it can do. The theme
 * is `light`, `dark` or `auto`, or the CSS `color-scheme` of the frame's place, such as `light dark`.
 */
export type Init = { svc: 'init'; nonce: string; token: string; locale: string | undefined; theme: string | undefined }

export function isHello(data: unknown, nonce: string): boolean {
  const { svc, nonce: given } = fieldsOf(data)
  return svc === 'hello' && given === nonce
}

export function readInit(data: unknown, nonce: string): Init | null {
  const { svc, nonce: given, token, locale, theme } = fieldsOf(data)
  if (svc !== 'init' || given !== nonce || typeof token !== 'string') return null
  return { svc, nonce, token, locale: textOf(locale), theme: textOf(theme) }
}

function textOf(value: unknown): string | undefined {
  return typeof value === 'string' ? value : undefined
}

/** What the frame may ask for on its port: that the payer is not let go by accident, or that the page goes elsewhere. */
export type PortRequest = { guard: boolean } | { leave: string }

/** The fields of what came, none where it can have none. */
export function fieldsOf(data: unknown): Record<string, unknown> {
  // What is no object becomes one that has none of the fields.
  return Object(data)
}
