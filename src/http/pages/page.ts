import { createHash } from 'node:crypto'
import { html } from '../../lib/html.ts'
import type { Html } from '../../lib/html.ts'

/** An answer, whatever server sends it. */
export type PageReply = { status: number; headers: Readonly<Record<string, string>>; body: string }

/** Large targets, visible focus, readable contrast in light and dark (WCAG 2.2 AA), and nothing that needs a script. */
const STYLE = `
:root { color-scheme: light dark; --page: #f3f5f8; --card: #fff; --text: #16202e; --soft: #556274; --line: #d9dfe7;
  --accent: #0b5cad; --on-accent: #fff; }
@media (prefers-color-scheme: dark) { :root { --page: #0f151d; --card: #19222d; --text: #edf1f6; --soft: #a9b5c4;
  --line: #33404f; --accent: #7db8f5; --on-accent: #0b1a2a; } }
* { box-sizing: border-box; }
body { margin: 0; min-height: 100vh; display: grid; place-items: start center; padding: 6vh 1rem 2rem;
  background: var(--page); color: var(--text); font: 1rem/1.5 system-ui, sans-serif; }
main { width: 100%; max-width: 27rem; background: var(--card); border: 1px solid var(--line); border-radius: 1rem;
  padding: 1.75rem; overflow-wrap: anywhere; }
.brand { margin: 0 0 1rem; color: var(--soft); font-weight: 600; }
h1 { margin: 0 0 .25rem; font-size: 1.35rem; line-height: 1.3; }
.amount { margin: .5rem 0 1.25rem; font-size: 2.25rem; font-weight: 700; font-variant-numeric: tabular-nums; }
dl { margin: 0 0 1.5rem; border-top: 1px solid var(--line); }
dl div { padding: .6rem 0; border-bottom: 1px solid var(--line); }
dt { color: var(--soft); font-size: .875rem; }
dd { margin: 0; }
input, select { display: block; width: 100%; min-height: 2.75rem; margin: .25rem 0 1rem; padding: 0 .75rem;
  border: 1px solid var(--soft); border-radius: .6rem; background: var(--card); color: var(--text); font: inherit; }
select { appearance: none; padding-right: 2.5rem; text-overflow: ellipsis; background:
  linear-gradient(45deg, transparent 50%, var(--soft) 50%) right 1.35rem center / .4rem .4rem no-repeat,
  linear-gradient(-45deg, transparent 50%, var(--soft) 50%) right .95rem center / .4rem .4rem no-repeat, var(--card); }
@media (forced-colors: active) { select { appearance: auto; } }
button { display: block; width: 100%; min-height: 3rem; margin-top: .75rem; border: 2px solid var(--accent);
  border-radius: .6rem; background: transparent; color: var(--accent); font: inherit; font-weight: 600; cursor: pointer; }
button.main { background: var(--accent); color: var(--on-accent); }
button:focus-visible, input:focus-visible, select:focus-visible, a:focus-visible { outline: 3px solid var(--text); outline-offset: 3px; }
.note { margin: 1.5rem 0 0; color: var(--soft); font-size: .875rem; }
`

export type PageOptions = {
  title: string
  /** Whose page it is, above the heading. */
  brand: string
  content: Html
  /** Where its forms may lead, as a CSP source list; nowhere when not given. */
  formTarget?: string
  /** Loads the page again after this many seconds. */
  refreshSeconds?: number
}

/** A whole page. */
export function page(status: number, { title, brand, content, formTarget, refreshSeconds }: PageOptions): PageReply {
  const refresh =
    refreshSeconds === undefined ? undefined : html`<meta http-equiv="refresh" content="${String(refreshSeconds)}">`
  const document = html`<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
${refresh}
<title>${title}</title>
<style>${{ html: STYLE }}</style>
</head>
<body>
<main>
<p class="brand">${brand}</p>
${content}
</main>
</body>
</html>
`
  return {
    status,
    headers: { 'content-type': 'text/html; charset=utf-8', ...safeHeaders(formTarget ?? "'none'") },
    body: document.html,
  }
}

/** Sends the browser on with a GET, whatever it came with. */
export function seeOther(location: string): PageReply {
  return { status: 303, headers: { location, ...safeHeaders("'none'") }, body: '' }
}

/**
 * No scripts, no frames, no caches, and no Referer: the address of this page holds what only the payer should know. The one
 * style sheet is allowed by its hash.
 */
function safeHeaders(formTarget: string): Record<string, string> {
  const styleHash = createHash('sha256').update(STYLE).digest('base64')
  return {
    'cache-control': 'no-store',
    'content-security-policy': `default-src 'none'; style-src 'sha256-${styleHash}'; form-action ${formTarget}; base-uri 'none'; frame-ancestors 'none'`,
    'referrer-policy': 'no-referrer',
    'x-content-type-options': 'nosniff',
  }
}
