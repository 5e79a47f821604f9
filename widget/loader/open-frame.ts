import type { Claims } from '../claims.ts'
import { fieldsOf, readEvent } from '../messages.ts'
import type { WidgetEvent } from '../messages.ts'
import type { MountOptions } from '../package/types.ts'
import { makeLeaveGuard } from './leave-guard.ts'
import type { LeaveGuard } from './leave-guard.ts'
import { make } from './problem-message.ts'

/**
 * The frame keeps its own origin (`allow-same-origin`) to call the service; the loader rejects pages of the same
 * origin. After a click it may open the bank's page or app, and nothing else.
 */
const SANDBOX =
  'allow-scripts allow-same-origin allow-forms allow-popups allow-popups-to-escape-sandbox ' +
  'allow-top-navigation-by-user-activation allow-top-navigation-to-custom-protocols'

/** How long to wait until the frame has loaded, and then until it says something, in milliseconds. */
const LOAD_MS_MAX = 20_000
const ANSWER_MS_MAX = 3_000

type Listener = {
  /** Called with each event of the frame. */
  dispatch(event: WidgetEvent): void
  /** Called once if the frame does not respond; the caller then removes it. */
  fail(): void
}

/**
 * Opens a checkout's frame. Call `close` when removing the frame.
 * @param origin of the checkout
 * @param options with the theme that the frame gets: the container's color-scheme where the shop sets none
 */
export function openFrame(origin: string, claims: Claims, options: MountOptions, { dispatch, fail }: Listener) {
  const nonce = crypto.getRandomValues(new Uint32Array(4)).join('-')
  const frame = makeFrame(claims, origin, nonce)
  const guard = makeLeaveGuard(nonce)
  let port: MessagePort | undefined
  let timer = setTimeout(giveUp, LOAD_MS_MAX)

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

  function onMessage({ origin: sender, source, data }: MessageEvent): void {
    if (sender !== origin || source !== frame.contentWindow) return
    const event = readEvent(data)
    if (!event) return
    // At most once per animation frame, and in whole pixels: the widget sees to it.
    if (event.eventType === 'SVC_RESIZE') frame.style.height = `${event.payload.height}px`
    dispatch(event)
  }

  // Its script listens by now. The page's own listeners hear nothing of this (decision 291).
  frame.onload = (): void => {
    clearTimeout(timer)
    timer = setTimeout(giveUp, ANSWER_MS_MAX)
    port?.close()
    const channel = new MessageChannel()
    port = channel.port1
    port.onmessage = ({ data }) => {
      clearTimeout(timer)
      handlePortRequest(data, guard, options.noRedirect ? '' : claims.returnUrl)
    }
    // Only what is JSON: a function among the options could not be sent, but its name can.
    const sent = JSON.stringify(options, (_, value) => (value?.call ? '' : value))
    frame.contentWindow?.postMessage({ ...JSON.parse(sent), svc: 'init', nonce }, origin, [channel.port2])
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
  const query = new URLSearchParams({ client_id: merchantClientId })
  return make('iframe', {
    title: `Pay ${merchantName} by bank`,
    referrerPolicy: 'origin',
    sandbox: SANDBOX,
    // Set through the CSSOM, which a page's style policy allows. About the height of the first screen, so that the page
    // does not jump.
    style: 'display:block;width:100%;border:0;height:560px;min-height:320px',
    src: `${checkoutOrigin}/widget/index.html?${query}#nonce=${nonce}&parent=${location.origin}`,
  })
}
