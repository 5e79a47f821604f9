import type { App } from '../../app.ts'
import { html } from '../../lib/html.ts'
import { getCheckoutOrigins } from '../../merchants/checkout-origins.ts'
import { identifyMerchant } from '../../merchants/identify.ts'
import { page } from './page.ts'
import type { PageReply } from './page.ts'

/** Allows scripts, styles and calls to this service only, no form targets, and no text as code (Trusted Types). */
const POLICY = [
  "default-src 'none'",
  "script-src 'self'",
  "style-src 'self'",
  "connect-src 'self'",
  "base-uri 'none'",
  "form-action 'none'",
  "require-trusted-types-for 'script'",
]

const HEADERS = {
  'content-type': 'text/html; charset=utf-8',
  'cache-control': 'no-store',
  'referrer-policy': 'no-referrer',
  'x-content-type-options': 'nosniff',
  'permissions-policy':
    'camera=(), microphone=(), geolocation=(), payment=(), usb=(), serial=(), hid=(), display-capture=()',
}

export type AppPage = {
  /** The built page. */
  body: string
  /** Pages that may embed it in a frame, as a CSP source list. */
  ancestors: string
  /** Allowed sources of frames on it; by default none. */
  frames?: string
  /** Allowed sources of its scripts in addition to this service. */
  scripts?: string
  /** The Trusted Types policy that it may create; by default none. */
  trusted?: string
  /** Whether it shows images of merchants, from any server. */
  hasLogos?: boolean
}

/** A page with scripts, with headers that allow only what it needs. */
export function appPage(
  { config }: Pick<App, 'config'>,
  { body, ancestors, frames, scripts, trusted, hasLogos }: AppPage,
): PageReply {
  const images = config.mode === 'sandbox' ? 'https: http://localhost:* http://127.0.0.1:*' : 'https:'
  const policy = [
    ...POLICY.map((rule) => (scripts !== undefined && rule.startsWith('script-src') ? `${rule} ${scripts}` : rule)),
    `trusted-types ${trusted ?? "'none'"}`,
    `img-src 'self' data:${hasLogos === true ? ` ${images}` : ''}`,
    ...(frames === undefined ? [] : [`frame-src ${frames}`]),
    `frame-ancestors ${ancestors}`,
  ]
  const alone = ancestors === "'none'" ? { 'x-frame-options': 'DENY', 'cross-origin-opener-policy': 'same-origin' } : {}
  return { status: 200, headers: { ...HEADERS, ...alone, 'content-security-policy': policy.join('; ') }, body }
}

/**
 * The pages that may embed a merchant's checkout: those in its settings. If there are none, any page in the sandbox and no
 * page in live mode (decision 26). No page for an unknown merchant.
 * @returns a CSP source list
 */
export async function frameAncestors(app: Pick<App, 'pool' | 'config'>, clientId: string): Promise<string> {
  const client = await identifyMerchant(app, clientId)
  if (client === null) return "'none'"
  const origins = await getCheckoutOrigins(app, client.merchant_id)
  if (origins.length > 0) return origins.join(' ')
  return app.config.mode === 'sandbox' ? '*' : "'none'"
}

/** The response for a page that was not built. */
export function notBuiltPage(): PageReply {
  return page(503, {
    brand: 'svc',
    title: 'Not built yet',
    content: html`<h1>This page is not built yet</h1>
<p>The checkout’s scripts and styles are missing from this installation.</p>
<p class="note">For the operator of the service: <code>npm run build</code> creates them.</p>`,
  })
}
