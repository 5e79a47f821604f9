import type { Claims } from '../claims.ts'
import { fieldsOf, isHello, readEvent } from '../messages.ts'
import type { Init, WidgetEvent } from '../messages.ts'
import { makeLeaveGuard } from './leave-guard.ts'
import type { LeaveGuard } from './leave-guard.ts'

/**
 * The frame keeps its own origin (`allow-same-origin`) to call the service; the loader rejects pages of the same
 * origin. After a click it may open the bank's page or app, and nothing else.
 */
const SANDBOX =
  'allow-scripts allow-same-origin allow-forms allow-popups allow-popups-to-escape-sandbox ' +
  'allow-top-navigation-by-user-activation allow-top-navigation-to-custom-protocols'

/** In CSS pixels. About the height of the first screen, so that the page does not jump. */
const HEIGHT_FIRST = 440

/** How long to wait for the frame's hello, in total and after it has loaded, in milliseconds. */
const HELLO_MS_MAX = 20_000
const HELLO_AFTER_LOAD_MS_MAX = 3_000

export type OpenFrameOptions = {
  checkoutOrigin: string
  token: string
  claims: Claims
  locale?: string | undefined
  /** The shop's setting or the container's color-scheme: the widget accepts either. */
  theme?: string | undefined
  noRedirect?: boolean | undefined
  /** Called with each event of the frame. */
  dispatch(event: WidgetEvent): void
  /** Called once if the frame does not respond; the caller then removes it. */
  fail(): void
}

/** Opens a checkout's frame. Call `close` when removing the frame. */
export function openFrame({
  checkoutOrigin,
  token,
  claims,
  locale,
  theme,
  noRedirect,
  dispatch,
  fail,
}: OpenFrameOptions) {
  const nonce = crypto.getRandomValues(new Uint32Array(4)).join('-')
  const frame = makeFrame(claims, checkoutOrigin, nonce)
  const guard = makeLeaveGuard(nonce)
  let port: MessagePort | undefined
  let timer = setTimeout(giveUp, HELLO_MS_MAX)

  function close(): void {
    removeEventListener('message', onMessage)
    clearTimeout(timer)
    guard(false)
    port?.close()
  }

  function giveUp(): void {
    close()
    fail()
  }

  function onMessage({ origin, source, data }: MessageEvent): void {
    if (origin !== checkoutOrigin || source !== frame.contentWindow) return
    if (isHello(data, nonce)) answerHello()
    const event = readEvent(data)
    if (!event) return
    if (event.eventType === 'SVC_RESIZE') {
      const { height } = event.payload
      requestAnimationFrame(() => resize(frame, height))
    }
    dispatch(event)
  }

  /** The frame sends hello each time it is loaded. */
  function answerHello(): void {
    clearTimeout(timer)
    port?.close()
    const channel = new MessageChannel()
    port = channel.port1
    port.onmessage = ({ data }) => handlePortRequest(data, guard, noRedirect ? '' : claims.returnUrl)
    const init: Init = { svc: 'init', nonce, token, locale, theme }
    frame.contentWindow?.postMessage(init, checkoutOrigin, [channel.port2])
  }

  frame.onload = (): void => {
    if (port) return
    clearTimeout(timer)
    timer = setTimeout(giveUp, HELLO_AFTER_LOAD_MS_MAX)
  }
  addEventListener('message', onMessage)
  return { frame, close }
}

/**
 * Handles a request of the frame. It may only navigate to the shop's own return address, or nowhere if that is empty.
 */
function handlePortRequest(data: unknown, guard: LeaveGuard, returnUrl: string): void {
  const { guard: on, leave } = fieldsOf(data)
  if (typeof on === 'boolean') guard(on)
  else if (leave === returnUrl && /^https?:/i.test(returnUrl)) guard(false, () => location.assign(returnUrl))
}

function makeFrame(
  { merchantClientId, merchantName }: Claims,
  checkoutOrigin: string,
  nonce: string,
): HTMLIFrameElement {
  const frame = document.createElement('iframe')
  frame.title = `Pay ${merchantName} by bank`
  frame.sandbox.value = SANDBOX
  frame.referrerPolicy = 'origin'
  // Set through the CSSOM, which a page's style policy allows.
  frame.style.cssText = 'display:block;width:100%;min-height:320px;max-height:1200px;border:0'
  resize(frame, HEIGHT_FIRST)
  const query = new URLSearchParams({ client_id: merchantClientId })
  const fragment = new URLSearchParams({ nonce, parent: location.origin })
  frame.src = `${checkoutOrigin}/widget/index.html?${query}#${fragment}`
  return frame
}

function resize({ style }: HTMLIFrameElement, height: number): void {
  style.height = `${Math.ceil(height)}px`
}
