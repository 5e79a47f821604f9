import type { SvcCheckout } from './types.ts'

export type {
  CheckoutAppearance,
  CheckoutEventType,
  CheckoutEvents,
  MountOptions,
  Mounted,
  SvcCheckout,
} from './types.ts'

/** The loader's address on the service. It stays while pages need no change, so an update reaches them by itself. */
const LOADER_PATH = '/v1/checkout.js'

/** A script that did not load is asked for once more, since a connection is lost more often than a server. */
const TRIES_MAX = 2

let loading: { origin: string; checkout: Promise<SvcCheckout> } | undefined

/**
 * Loads the checkout's script from the service, once for a page however often it is called. After a failure the next call
 * tries again. On a server there is no page to load it into, and the answer is null.
 * @param serviceUrl the service's address, such as `https://pay.example`
 * @throws {Error} if the address is not valid, the script can't be loaded, or the page has another service's checkout
 */
export async function loadCheckout(serviceUrl: string): Promise<SvcCheckout | null> {
  if (typeof document === 'undefined') return null
  const origin = originOf(serviceUrl)
  if (loading !== undefined && loading.origin !== origin) throw otherService(loading.origin, origin)
  if (loading === undefined) {
    const attempt = { origin, checkout: load(origin) }
    loading = attempt
    attempt.checkout.catch(() => {
      if (loading === attempt) loading = undefined
    })
  }
  return loading.checkout
}

function otherService(present: string, origin: string): Error {
  return new Error(`The page has the checkout of ${present} already: one page can't have that of ${origin} too.`)
}

function originOf(serviceUrl: string): string {
  const [, origin] = /^(https?:\/\/[^/?#\s@]+)\/?$/i.exec(serviceUrl) ?? []
  if (origin === undefined)
    throw new Error(`"${serviceUrl}" is not the address of a service: use its origin, such as https://pay.example.`)
  return new URL(origin).origin
}

async function load(origin: string): Promise<SvcCheckout> {
  const src = `${origin}${LOADER_PATH}`
  for (let attempt = 1; ownCheckout() === undefined; attempt += 1) {
    try {
      await insertScript(src)
      break
    } catch (error) {
      if (attempt === TRIES_MAX) throw error
    }
  }
  const checkout = ownCheckout()
  if (checkout === undefined) throw new Error(`${src} is not the checkout's script: check the address of the service.`)
  if (checkout.origin !== origin) throw otherService(checkout.origin, origin)
  return checkout
}

/** A tag of the page may have loaded it. An element with the id `SvcCheckout` is a property of the window as well. */
function ownCheckout(): SvcCheckout | undefined {
  return Object.prototype.hasOwnProperty.call(window, 'SvcCheckout') ? window.SvcCheckout : undefined
}

function insertScript(src: string): Promise<void> {
  return new Promise((resolve, reject) => {
    const script = document.createElement('script')
    script.src = trusted(src)
    script.async = true
    script.onload = () => resolve()
    script.onerror = () => {
      script.remove()
      const { origin } = new URL(src)
      reject(
        new Error(
          `${src} did not load: the service is out of reach, or the page's Content-Security-Policy lacks script-src ${origin}.`,
        ),
      )
    }
    document.head.append(script)
  })
}

type ScriptPolicy = { createScriptURL(url: string): string }
type TrustedTypes = { createPolicy(name: string, rules: ScriptPolicy): ScriptPolicy }

let policy: ScriptPolicy | undefined

/**
 * A page that requires Trusted Types allows the policy `svc-checkout`, whose name can be taken once. Where it does not, the
 * browser decides about the text.
 */
function trusted(url: string): string {
  const { trustedTypes } = window as Window & { trustedTypes?: TrustedTypes }
  try {
    policy ??= trustedTypes?.createPolicy('svc-checkout', { createScriptURL: (text) => text })
  } catch {
    return url
  }
  return policy?.createScriptURL(url) ?? url
}
