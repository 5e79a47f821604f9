'use client'

import { createElement, useEffect, useRef, useState } from 'react'
import type { CSSProperties, ReactElement } from 'react'
import { HEIGHT_PX, LINK_TEXT, checkoutPageUrl, optionsOf, reportError, showCheckout } from './show-checkout.ts'
import { makeTokenWatch } from './misuse.ts'
import type { CheckoutProps, EventName, PayloadOf } from './show-checkout.ts'

/** A function for each event that the shop wants: `onSuccess`, `onFailed` and so on. */
export type CheckoutHandlers = {
  [Name in EventName as `on${Capitalize<Name>}`]?: ((payload: PayloadOf<Name>) => void) | undefined
} & {
  /** The checkout's script did not load. Without it the console says why. */
  onError?: ((error: Error) => void) | undefined
}

export type SvcCheckoutProps = CheckoutProps &
  CheckoutHandlers & {
    id?: string | undefined
    className?: string | undefined
    style?: CSSProperties | undefined
  }

/**
 * The checkout of an order. Another token begins another checkout. What else changes leaves the payer where they are: new
 * functions are called from then on, other options count from the next token. Until the checkout is there, and without
 * scripts, a link leads to the service's own page.
 */
export function SvcCheckout(props: SvcCheckoutProps): ReactElement {
  const { origin, token, id, className, style, linkText = LINK_TEXT } = props
  const container = useRef<HTMLDivElement>(null)
  const latest = useRef(props)
  const [watch] = useState(makeTokenWatch)
  useEffect(() => {
    latest.current = props
  })
  useEffect(() => {
    if (!token || container.current === null) return undefined
    return showCheckout(container.current, {
      ...optionsOf(latest.current),
      origin,
      token,
      onEvent: (name, payload) => handlerOf(latest.current, name)?.(payload),
      onError: (error) => (latest.current.onError ?? reportError)(error),
      watch,
    })
  }, [origin, token, watch])
  // The script takes the link out of the element, so a token has an element of its own: React never looks for the link.
  return createElement(
    'div',
    { key: token ?? '', ref: container, id, className, style: { minHeight: HEIGHT_PX, ...style } },
    token && createElement('a', { href: checkoutPageUrl(origin, token) }, linkText),
  )
}

function handlerOf<Name extends EventName>(
  handlers: CheckoutHandlers,
  name: Name,
): ((payload: PayloadOf<Name>) => void) | undefined {
  const property = `on${name.slice(0, 1).toUpperCase()}${name.slice(1)}` as `on${Capitalize<Name>}`
  return handlers[property] as ((payload: PayloadOf<Name>) => void) | undefined
}
