import { readClaims } from './claims.ts'
import { readInit } from './messages.ts'
import { themeOf } from './theme.ts'
import type { Theme } from './theme.ts'
import type { PortRequest, Hello, Init, WidgetEventType, WidgetEvents } from './messages.ts'

/** How long the page around the frame may take to say what to do, in milliseconds. */
const INIT_MS_MAX = 10_000

/** The merchant's page as the widget in its frame knows it. */
export type Connection = {
  token: string
  /** As the merchant wrote it; undefined leaves the choice to the browser's languages. */
  locale: string | undefined
  theme: Theme
  parentOrigin: string
  /** Tells the merchant's page of an event: to the token's callbackOrigin only, so that nobody else can hear it. */
  emit<Type extends WidgetEventType>(eventType: Type, payload: WidgetEvents[Type]): void
  /** Whether the page is to keep the payer from leaving by accident. */
  guard(on: boolean): void
  /** Asks the page to go to the token's returnUrl. It may stay where it is, as pages of one piece want. */
  leave(url: string): void
}

/**
 * Meets the loader on the page around this frame: says hello, and is told the token. From then on the page hears of the
 * height by itself.
 * @throws {Error} with what is wrong, for the payer's eyes, when there is no such page or it is not the token's
 */
export async function connect(): Promise<Connection> {
  const asked = new URLSearchParams(location.hash.slice(1))
  const nonce = asked.get('nonce')
  const parentOrigin = asked.get('parent')
  if (window.parent === window) throw new Error('This page works inside a shop’s checkout only.')
  if (!nonce || !parentOrigin) throw new Error('The checkout was not opened by its own script.')
  const { init, port } = await handshake(nonce, parentOrigin)
  const callbackOrigin = readClaims(init.token)?.callbackOrigin
  if (callbackOrigin === undefined) throw new Error('The checkout token can’t be read.')
  if (callbackOrigin !== parentOrigin) {
    throw new Error(`This checkout belongs to ${callbackOrigin}, and the page around it is ${parentOrigin}.`)
  }
  const ask = (what: PortRequest): void => port.postMessage(what)
  const connection: Connection = {
    token: init.token,
    locale: init.locale,
    theme: themeOf(init.theme),
    parentOrigin,
    emit: (eventType, payload) => window.parent.postMessage({ eventType, payload }, callbackOrigin),
    guard: (on) => ask({ guard: on }),
    leave: (url) => ask({ leave: url }),
  }
  reportHeight(connection)
  return connection
}

type Handshake = { init: Init; port: MessagePort }

/** Only the page around the frame is listened to; what other windows send changes nothing. */
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
      end()
      resolve({ init, port })
    }
    const timer = setTimeout(() => end('The page around the checkout gives no answer.'), INIT_MS_MAX)
    window.addEventListener('message', onMessage)
    const hello: Hello = { svc: 'hello', nonce }
    try {
      window.parent.postMessage(hello, parentOrigin)
    } catch {
      end('The page around the checkout has no address that can be answered.')
    }
  })
}

/** Tells how high the content is, once a frame at most and only when it has changed. */
function reportHeight({ emit }: Connection): void {
  let reportedHeight = 0
  let isDue = false
  new ResizeObserver(() => {
    if (isDue) return
    isDue = true
    requestAnimationFrame(() => {
      isDue = false
      // Before there is something to see, the place that the page keeps for it is the better height.
      if (!document.querySelector('main')?.firstElementChild) return
      const height = Math.ceil(document.body.getBoundingClientRect().height)
      if (height === reportedHeight) return
      reportedHeight = height
      emit('SVC_RESIZE', { height })
    })
  }).observe(document.body)
}
