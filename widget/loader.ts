import { mountCheckout } from './loader/mount.ts'
import { problemMessage } from './loader/problem-message.ts'
import type { Mounted, SvcCheckout } from './package/types.ts'

/*
 * The script that a shop's page loads from the checkout's origin. A tag with `data-checkout-token` and
 * `data-container-id` shows the checkout; otherwise `SvcCheckout.mount` does.
 */

/**
 * Only known during the script's first run. Read through the prototype, because an image named `currentScript` would
 * hide the document's property and could redirect the token.
 */
const script = Reflect.get(Document.prototype, 'currentScript', document) as HTMLScriptElement
// A module knows neither its address nor its attributes, and a copy in another script those of that script.
if (!/v1.checkout/.test(script?.src)) throw new Error('svc checkout: load the <script> of the service')
const { origin } = new URL(script.src)

function makeCheckout(): SvcCheckout {
  const shown = new WeakMap<HTMLElement, { token: string; mounted: Mounted }>()
  return {
    origin,
    mount(place, options) {
      const container = typeof place === 'string' ? document.getElementById(place) : place
      if (!container) throw new Error(`no element with the id "${place}".`)
      const known = shown.get(container)
      if (known?.token === options.token) return known.mounted
      known?.mounted.destroy()
      const mounted = mountCheckout(container, origin, options, () => shown.delete(container))
      shown.set(container, { token: options.token, mounted })
      return mounted
    },
  }
}

/**
 * All tags on a page share one instance, which knows the used containers. Properties that the browser derives from
 * element ids or frame names are not own properties of the window.
 */
const checkout = (Object.hasOwn(window, 'SvcCheckout') && window.SvcCheckout) || (window.SvcCheckout = makeCheckout())

function start(): void {
  const { dataset } = script
  const { containerId, checkoutToken: token, noRedirect = 'false', sameTab = 'false' } = dataset
  if ((token ?? containerId) === undefined) return
  try {
    checkout.mount(containerId ?? '', {
      ...dataset,
      token: token ?? '',
      noRedirect: noRedirect !== 'false',
      sameTab: sameTab !== 'false',
    })
  } catch (error) {
    script.after(problemMessage((error as Error).message))
  }
}

// An async script may run before the container exists.
if (document.readyState === 'loading') document.addEventListener('DOMContentLoaded', start)
else start()
