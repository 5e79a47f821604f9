import { mountCheckout } from './loader/mount.ts'
import type { MountOptions, Mounted } from './loader/mount.ts'
import { problemMessage } from './loader/problem-message.ts'

/*
 * The script that a shop's page loads from the checkout's address. A tag with `data-checkout-token` and
 * `data-container-id` shows the checkout; without them, `SvcCheckout.mount` does.
 */

export type SvcCheckout = {
  /**
   * Shows a checkout in an element, which is named by its id or given. The same token in the same element is the checkout
   * that is there already; another token takes its place.
   * @throws {Error} when there is no such element
   */
  mount(place: HTMLElement | string, options: MountOptions): Mounted
}

declare global {
  interface Window {
    SvcCheckout?: SvcCheckout
  }
}

/**
 * Known only while the script runs for the first time. Asked of the prototype: an image of the page that is named
 * `currentScript` takes the place of the document's own, and would say where the token goes.
 */
const script = Reflect.get(Document.prototype, 'currentScript', document) as HTMLScriptElement
const checkoutOrigin = new URL(script.src).origin

function makeCheckout(): SvcCheckout {
  const shown = new WeakMap<HTMLElement, { token: string; mounted: Mounted }>()
  return {
    mount(place, options) {
      const container = typeof place === 'string' ? document.getElementById(place) : place
      if (!container) throw new Error(`there is no element with the id "${place}".`)
      const known = shown.get(container)
      if (known?.token === options.token) return known.mounted
      known?.mounted.destroy()
      const mounted = mountCheckout(container, checkoutOrigin, options, () => shown.delete(container))
      shown.set(container, { token: options.token, mounted })
      return mounted
    },
  }
}

/**
 * Several tags on a page share one: it knows which containers are taken. What only an element's id or a frame's name made is
 * not the window's own.
 */
const checkout = (Object.hasOwn(window, 'SvcCheckout') && window.SvcCheckout) || (window.SvcCheckout = makeCheckout())

function start(): void {
  const { dataset } = script
  const { checkoutToken: token, containerId } = dataset
  if ((token ?? containerId) === undefined) return
  try {
    checkout.mount(containerId ?? '', { ...dataset, token: token ?? '', noRedirect: 'noRedirect' in dataset })
  } catch (error) {
    script.after(problemMessage((error as Error).message))
  }
}

// An async script may run before the container is there.
if (document.readyState === 'loading') document.addEventListener('DOMContentLoaded', start)
else start()
