import type { SvcCheckout } from '../loader.ts'

type TrustedPolicies = { createPolicy(name: string, rules: { createScriptURL(url: string): string }): ScriptPolicy }
type ScriptPolicy = { createScriptURL(url: string): string }

/**
 * The other loopback name of this machine, which browsers treat as another origin, as the checkout is to a shop. On
 * other hosts there is no second name, and the loader shows why it does not start.
 */
export function otherLoopbackOrigin({ protocol, hostname, host, origin }: Location): string {
  const twins: Record<string, string> = { localhost: '127.0.0.1', '127.0.0.1': 'localhost' }
  const twin = twins[hostname]
  return twin === undefined ? origin : `${protocol}//${host.replace(hostname, twin)}`
}

let loading: Promise<SvcCheckout> | undefined

/** Loads the loader script once per page; after a failure it can be loaded again. */
export function loadCheckout(checkoutOrigin: string): Promise<SvcCheckout> {
  loading ??= new Promise<SvcCheckout>((resolve, reject) => {
    const script = document.createElement('script')
    script.src = trusted(`${checkoutOrigin}/v1/checkout.js`)
    script.onload = () =>
      window.SvcCheckout ? resolve(window.SvcCheckout) : reject(new Error('The loader did not start.'))
    script.onerror = () => reject(new Error(`The loader could not be loaded from ${checkoutOrigin}.`))
    document.head.append(script)
  }).catch((error: unknown) => {
    loading = undefined
    throw error
  })
  return loading
}

/** The page's Trusted Types policy allows script addresses only from here. */
function trusted(url: string): string {
  const { trustedTypes } = window as Window & { trustedTypes?: TrustedPolicies }
  policy ??= trustedTypes?.createPolicy('checkout-loader', { createScriptURL: (text) => text })
  return policy?.createScriptURL(url) ?? url
}

let policy: ScriptPolicy | undefined
