import { readClaims } from './claims.ts'
import type { Claims } from './claims.ts'
import { readInit } from './messages.ts'
import { themeOf } from './theme.ts'
import type { Theme } from './theme.ts'
import type { Init, PortRequest } from './messages.ts'
import type { CheckoutEventType, CheckoutEvents } from './package/types.ts'

/** How long to wait for the parent page's init message, in milliseconds. */
const INIT_MS_MAX = 10_000

/** The connection to the merchant's page. */
export type Connection = {
  token: string
  /** As set by the merchant; undefined uses the browser's languages. */
  locale: string | undefined
  theme: Theme
  sameTab: boolean | undefined
  /** The look that the shop asks for, not read yet (appearance.ts). */
  appearance: unknown
  /** All that the shop gave, for its developer's sake alone (misuse.ts). */
  options: Record<string, unknown>
  claims: Claims
  parentOrigin: string
  /** Sends an event to the merchant's page, only to the token's callbackOrigin so that no other page receives it. */
  emit<Type extends CheckoutEventType>(eventType: Type, payload: CheckoutEvents[Type]): void
  /** Turns the page's protection against leaving on or off. */
  guard(on: boolean): void
  /** Asks the page to go to the token's returnUrl. A single-page app may stay where it is. */
  leave(url: string): void
}

/**
 * Connects to the loader on the parent page, which sends the token. From then on the page gets the widget's height.
 * @throws {Error} with a message for display if there is no loader or the token belongs to another page
 */
export async function connect(): Promise<Connection> {
  const parameters = new URLSearchParams(location.hash.slice(1))
  const nonce = parameters.get('nonce')
  const parentOrigin = parameters.get('parent')
  if (window.parent === window || !nonce || !parentOrigin)
    throw new Error('This page only works inside a shop’s checkout.')
  const { init, port, options } = await handshake(nonce, parentOrigin)
  const claims = readClaims(init.token)
  if (claims === null) throw new Error('The checkout token is not valid.')
  const { callbackOrigin } = claims
  if (callbackOrigin !== parentOrigin) {
    throw new Error(`This checkout is for ${callbackOrigin}, but the page around it is ${parentOrigin}.`)
  }
  const ask = (what: PortRequest): void => port.postMessage(what)
  const connection: Connection = {
    token: init.token,
    locale: init.locale,
    theme: themeOf(init.theme),
    sameTab: init.sameTab,
    appearance: init.appearance,
    options,
    claims,
    parentOrigin,
    emit: (eventType, payload) => window.parent.postMessage({ eventType, payload }, callbackOrigin),
    guard: (on) => ask({ guard: on }),
    leave: (url) => ask({ leave: url }),
  }
  reportHeight(connection)
  return connection
}

type Handshake = { init: Init; port: MessagePort; options: Connection['options'] }

/** Listens only to the parent page; messages of other windows are ignored. */
function handshake(nonce: string, parentOrigin: string): Promise<Handshake> {
  return new Promise((resolve, reject) => {
    const end = (error?: string): void => {
      window.removeEventListener('message', onMessage)
      clearTimeout(timer)
      if (error !== undefined) reject(new Error(error))
    }
    const onMessage = ({ source, origin, data, ports }: MessageEvent): void => {
      if (source !== window.parent) return
      if (origin !== parentOrigin) return end(`The page around the checkout is ${origin}, not ${parentOrigin}.`)
      const init = readInit(data, nonce)
      const [port] = ports
      if (init === null || port === undefined) return
      // The loader knows by this that there is a widget.
      port.postMessage({})
      end()
      resolve({ init, port, options: data })
    }
    const timer = setTimeout(() => end('The page around the checkout does not respond.'), INIT_MS_MAX)
    window.addEventListener('message', onMessage)
  })
}

/** Sends the content's height, at most once per animation frame and only if it has changed. */
function reportHeight({ emit }: Connection): void {
  let reportedHeight = 0
  let isDue = false
  new ResizeObserver(() => {
    if (isDue) return
    isDue = true
    requestAnimationFrame(() => {
      isDue = false
      // Until there is content, the page's placeholder height is better.
      if (!document.querySelector('main')?.firstElementChild) return
      const height = Math.ceil(document.body.getBoundingClientRect().height)
      if (height === reportedHeight) return
      reportedHeight = height
      emit('SVC_RESIZE', { height })
    })
  }).observe(document.body)
}
