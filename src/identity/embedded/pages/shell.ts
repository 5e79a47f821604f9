import { createHash } from 'node:crypto'
import type { ServerResponse } from 'node:http'
import { html } from '../../../lib/html.ts'
import type { Html } from '../../../lib/html.ts'
import { ALONE } from '../../../lib/page-headers.ts'
import { logoOf, stylesOf } from './style.ts'
import type { Theme } from './style.ts'

/** A page as a response, independent of the server that sends it. */
export type PageReply = { status: number; headers: Readonly<Record<string, string>>; body: string }

export type PageOptions = {
  theme: Theme
  /** The page's purpose; the realm's name follows it. */
  title: string
  content: Html
  status?: number
  /** Origins that forms may lead to besides this one: CSP sources made by `formSourceOf`. */
  formTargets?: readonly string[]
  /** The only script of the page, a constant; the page works without it. */
  script?: string
  /** Additional headers, such as Retry-After. */
  headers?: Readonly<Record<string, string>>
}

/** A complete page with one column, one heading and one task. */
export function page(options: PageOptions): PageReply {
  const { theme, title, content, script, status = 200 } = options
  const style = stylesOf(theme)
  const logo = logoOf(theme)
  const document = html`<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="robots" content="noindex">
<link rel="icon" href="data:,">
<title>${title} - ${theme.displayName}</title>
<style>${{ html: style }}</style>
${script === undefined ? undefined : html`<script>${{ html: script }}</script>`}
</head>
<body>
<main>
<p class="brand">${logo && html`<img class="logo" src="${logo.href}" alt="">`}${theme.displayName}</p>
${content}
</main>
</body>
</html>
`
  return {
    status,
    headers: {
      'content-type': 'text/html; charset=utf-8',
      ...safeHeaders({ ...options, style }),
      ...options.headers,
    },
    body: document.html,
  }
}

/** Sends a page outside the protocol library. */
export function sendPage(res: ServerResponse, { status, headers, body }: PageReply): void {
  res.writeHead(status, headers).end(body)
}

/** The part of the library's context that a page needs. */
export type PageContext = { status: number; body: unknown; set(headers: Record<string, string>): void }

/** Sends a page inside the protocol library. */
export function renderPage(ctx: PageContext, { status, headers, body }: PageReply): void {
  ctx.status = status
  ctx.set({ ...headers })
  ctx.body = body
}

/**
 * Chromium checks every redirect that follows a form submission against `form-action`, so `'self'` alone would block
 * the redirect from the sign-in back to the client. Only the origin of this sign-in's client is added. A CSP source
 * can't name an IPv6 address or the path of an app's own scheme; in those cases the scheme is allowed.
 */
export function formSourceOf(address: string | undefined): string[] {
  if (address === undefined || !URL.canParse(address)) return []
  const { protocol, hostname, origin } = new URL(address)
  if (protocol !== 'http:' && protocol !== 'https:') return [protocol]
  // The host becomes part of a header whose parts are separated by semicolons.
  return [/^[a-z0-9._-]+$/.test(hostname) ? origin : protocol]
}

/**
 * Nothing external is loaded, no page may frame this one, nothing is cached, and no Referer is sent because the URL may
 * contain a link's token. Style and script are allowed by their hashes.
 */
function safeHeaders({
  theme,
  style,
  script,
  formTargets = [],
}: PageOptions & { style: string }): Record<string, string> {
  const logo = logoOf(theme)
  const policy = [
    "default-src 'none'",
    `style-src '${hashOf(style)}'`,
    script === undefined ? undefined : `script-src '${hashOf(script)}'`,
    // `data:` is the icon of the page, which is empty: without one, browsers ask for /favicon.ico.
    `img-src ${logo === undefined ? '' : `${logo.origin} `}data:`,
    `form-action ${["'self'", ...formTargets].join(' ')}`,
    "base-uri 'none'",
    "frame-ancestors 'none'",
  ]
  return {
    'cache-control': 'no-store',
    'content-security-policy': policy.filter((part) => part !== undefined).join('; '),
    ...ALONE,
    'referrer-policy': 'no-referrer',
    'x-content-type-options': 'nosniff',
    'x-frame-options': 'DENY',
  }
}

function hashOf(text: string): string {
  return `sha256-${createHash('sha256').update(text).digest('base64')}`
}
