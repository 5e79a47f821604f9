import { createHash } from 'node:crypto'
import type { ServerResponse } from 'node:http'
import { html } from '../../../lib/html.ts'
import type { Html } from '../../../lib/html.ts'
import { logoOf, stylesOf } from './style.ts'
import type { Theme } from './style.ts'

/** An answer, whatever server sends it. */
export type PageReply = { status: number; headers: Readonly<Record<string, string>>; body: string }

export type PageOptions = {
  theme: Theme
  /** What the page is for; whose it is stands behind it. */
  title: string
  content: Html
  status?: number
  /** Where its forms may lead beside this origin: CSP sources, made by `formSourceOf`. */
  formTargets?: readonly string[]
  /** The one script of the page, a constant: what it does can be done by hand too. */
  script?: string
  /** More headers, such as Retry-After. */
  headers?: Readonly<Record<string, string>>
}

/** A whole page: one column, one heading, one thing to do. */
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

/** Answers outside the protocol library. */
export function sendPage(res: ServerResponse, { status, headers, body }: PageReply): void {
  res.writeHead(status, headers).end(body)
}

/** What the library's contexts can do that a page needs. */
export type PageContext = { status: number; body: unknown; set(headers: Record<string, string>): void }

/** Answers inside the protocol library. */
export function renderPage(ctx: PageContext, { status, headers, body }: PageReply): void {
  ctx.status = status
  ctx.set({ ...headers })
  ctx.body = body
}

/**
 * Chromium holds every redirect that answers a form against `form-action`, so `'self'` alone would stop a browser on its
 * way from signing in back to the client. What is added is the one origin that this sign-in leads to, and no more. A
 * source can't name an IPv6 address nor the path of an app's own scheme; there the scheme is named.
 */
export function formSourceOf(address: string | undefined): string[] {
  if (address === undefined || !URL.canParse(address)) return []
  const { protocol, hostname, origin } = new URL(address)
  if (protocol !== 'http:' && protocol !== 'https:') return [protocol]
  // A host goes into a header whose parts are told apart by semicolons.
  return [/^[a-z0-9._-]+$/.test(hostname) ? origin : protocol]
}

/**
 * Nothing is loaded from anywhere, nobody may frame the page, nothing keeps it, and no Referer is sent: the address may
 * hold the token of a link. Style and script are allowed by their hashes.
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
    logo && `img-src ${logo.origin}`,
    `form-action ${["'self'", ...formTargets].join(' ')}`,
    "base-uri 'none'",
    "frame-ancestors 'none'",
  ]
  return {
    'cache-control': 'no-store',
    'content-security-policy': policy.filter((part) => part !== undefined).join('; '),
    'referrer-policy': 'no-referrer',
    'x-content-type-options': 'nosniff',
    'x-frame-options': 'DENY',
  }
}

function hashOf(text: string): string {
  return `sha256-${createHash('sha256').update(text).digest('base64')}`
}
