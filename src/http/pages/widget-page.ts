import type { App } from '../../app.ts'
import { html } from '../../lib/html.ts'
import { readWebOrigin } from '../../lib/web-origin.ts'
import type { ErrorCode } from '../../lib/errors.ts'
import { ALONE, PERMISSIONS_POLICY } from '../../lib/page-headers.ts'
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
  'permissions-policy': PERMISSIONS_POLICY,
}

export type AppPage = {
  /** The built page. */
  body: string
  /** Texts for the names in braces in it. */
  values?: Readonly<Record<string, string>>
  /** Pages that may embed it in a frame, as a CSP source list. */
  ancestors: string
  /** Allowed sources of frames on it; by default none. */
  frames?: string
  /** Allowed sources of its scripts in addition to this service. */
  scripts?: string
  /** The Trusted Types policy that it may create; by default none. */
  trusted?: string
  /** Why it may only show this problem. */
  problem?: FrameProblem | undefined
  /** Whether it shows images of merchants, from any server. */
  hasLogos?: boolean
}

/** A page with scripts, with headers that allow only what it needs. */
export function appPage(
  { config }: Pick<App, 'config'>,
  { body, values, ancestors, frames, scripts, trusted, hasLogos, problem }: AppPage,
): PageReply {
  const images = config.mode === 'sandbox' ? 'https: http://localhost:* http://127.0.0.1:*' : 'https:'
  const policy = [
    ...POLICY.map((rule) => (scripts !== undefined && rule.startsWith('script-src') ? `${rule} ${scripts}` : rule)),
    `trusted-types ${trusted ?? "'none'"}`,
    `img-src 'self' data:${hasLogos === true ? ` ${images}` : ''}`,
    ...(frames === undefined ? [] : [`frame-src ${frames}`]),
    `frame-ancestors ${ancestors}`,
  ]
  const alone = ancestors === "'none'" ? { 'x-frame-options': 'DENY', ...ALONE } : {}
  return {
    status: 200,
    headers: { ...HEADERS, ...alone, 'content-security-policy': policy.join('; ') },
    body: withProblem(withValues(body, values), problem),
  }
}

function withValues(body: string, values: Readonly<Record<string, string>> = {}): string {
  return body.replace(/\{(\w+)\}/g, (whole, name: string) => {
    const value = values[name]
    return value === undefined ? whole : html`${value}`.html
  })
}

/** The widget reads it from its element, and then asks the service for nothing. */
function withProblem(body: string, problem: FrameProblem | undefined): string {
  if (problem === undefined) return body
  const { code, message } = problem
  return body.replace('<main ', () => html`<main data-code="${code}" data-message="${message}" `.html)
}

/** Why a checkout is not shown on the page that asks for it, for the shop's developer. */
export type FrameProblem = { code: ErrorCode; message: string }

type FrameRequest = { clientId: string; referer: string | undefined }

/** A page of a script that is not ours: it reaches this service alone, and has no frame, form or embedding page. */
export function viewerPage(body: string): PageReply {
  const policy = [
    "default-src 'none'",
    "script-src 'self'",
    "style-src 'self' 'unsafe-inline'",
    "connect-src 'self'",
    "img-src 'self' data:",
    "base-uri 'none'",
    "form-action 'none'",
    "frame-ancestors 'none'",
  ]
  const alone = { 'x-frame-options': 'DENY', 'cross-origin-opener-policy': 'same-origin' }
  return { status: 200, headers: { ...HEADERS, ...alone, 'content-security-policy': policy.join('; ') }, body }
}

/** Of a page of the documentation, which has no scripts and no forms, and no secret in its address. */
export const GUIDE_HEADERS: Readonly<Record<string, string>> = {
  ...HEADERS,
  ...ALONE,
  'x-frame-options': 'DENY',
  'cache-control': 'public, max-age=300',
  'content-security-policy':
    "default-src 'none'; style-src 'self'; img-src 'self' data:; base-uri 'none'; form-action 'none'; frame-ancestors 'none'",
}

/**
 * The pages that may embed a merchant's checkout: those in its settings. If there are none, any page in the sandbox and no
 * page in live mode (decision 26). No page for an unknown merchant. Another page that says who it is gets a frame that
 * shows nothing but the problem (decision 291). One that does not gets the whole list, with which its browser decides.
 * @returns a CSP source list
 */
export async function frameRules(
  app: Pick<App, 'pool' | 'config'>,
  { clientId, referer }: FrameRequest,
): Promise<{ ancestors: string; problem?: FrameProblem }> {
  const client = await identifyMerchant(app, clientId)
  const origins = client === null ? [] : await getCheckoutOrigins(app, client.merchant_id)
  if (client !== null && origins.length === 0 && app.config.mode === 'sandbox') return { ancestors: '*' }
  const page = originOf(referer)
  if (page === undefined || origins.includes(page)) return { ancestors: origins.join(' ') || "'none'" }
  return { ancestors: page, problem: client === null ? unknownClient(app, page) : pageNotAllowed(page) }
}

/** The origin of the page around the frame: the loader has browsers send it. */
function originOf(referer: string | undefined): string | undefined {
  if (referer === undefined || !URL.canParse(referer)) return undefined
  const read = readWebOrigin(new URL(referer).origin, { allowLoopbackHttp: true })
  return 'origin' in read ? read.origin : undefined
}

function pageNotAllowed(page: string): FrameProblem {
  return {
    code: 'CHECKOUT_ORIGIN_NOT_ALLOWED',
    message: `The merchant has not allowed its checkout on ${page}. If the page is yours, allow it: svc checkout origins add ${page}`,
  }
}

/**
 * In live mode the same as for a page that is not allowed: the page learns nothing of other merchants. The header says which
 * client ids exist (decision 291).
 */
function unknownClient({ config }: Pick<App, 'config'>, page: string): FrameProblem {
  if (config.mode === 'live') return pageNotAllowed(page)
  return {
    code: 'CHECKOUT_TOKEN_INVALID',
    message:
      'The merchantClientId of the token is not the client id of a merchant. A correct token: svc checkout token',
  }
}

/** Where the documentation has no page of that name. */
export function missingGuidePage(): PageReply {
  return page(404, {
    brand: 'svc',
    title: 'No such page',
    content: html`<h1>There is no page of this name</h1>
<p><a class="next" href="/docs">Documentation</a></p>`,
  })
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
