import { createHash } from 'node:crypto'
import { buttonTextOn, contrastRatio } from '../../lib/contrast.ts'
import { html } from '../../lib/html.ts'
import { ALONE } from '../../lib/page-headers.ts'
import type { Html } from '../../lib/html.ts'
import type { PayerLanguage } from './payer-language.ts'

/** A response, independent of the server. */
export type PageReply = { status: number; headers: Readonly<Record<string, string>>; body: string }

/** Large targets, visible focus, readable contrast in light and dark (WCAG 2.2 AA), and no script. */
const STYLE = `
:root { color-scheme: light dark; --page: #f3f5f8; --card: #fff; --text: #16202e; --soft: #556274; --line: #d9dfe7;
  --accent: #0b5fff; --on-accent: #fff; --good: #137333; --bad: #b3261e; }
@media (prefers-color-scheme: dark) { :root { --page: #0f151d; --card: #19222d; --text: #edf1f6; --soft: #a9b5c4;
  --line: #33404f; --accent: #8ab8ff; --on-accent: #0a1626; } }
* { box-sizing: border-box; }
body { margin: 0; min-height: 100vh; display: grid; place-items: start center; padding: 6vh 1rem 2rem;
  background: var(--page); color: var(--text); font: 1rem/1.5 system-ui, sans-serif; }
main { width: 100%; max-width: 30rem; background: var(--card); border: 1px solid var(--line); border-radius: 1rem;
  padding: 1.75rem; overflow-wrap: anywhere; hyphens: auto; }
.brand { margin: 0 0 1rem; color: var(--soft); font-weight: 600; }
h1 { margin: 0 0 .25rem; font-size: 1.35rem; line-height: 1.3; text-wrap: balance; }
.sign { display: grid; place-items: center; width: 3rem; height: 3rem; margin: 0 0 .75rem; border-radius: 50%;
  background: var(--good); color: #fff; font-size: 1.5rem; font-weight: 700; line-height: 1; }
.sign.bad { background: var(--bad); }
.sign.wait { border: .25rem solid var(--line); border-top-color: var(--accent); background: none;
  animation: turn 1s linear infinite; }
@keyframes turn { to { rotate: 1turn; } }
@media (prefers-reduced-motion: reduce) { .sign.wait { animation: none; border-style: dotted; } }
@media (forced-colors: active) { .sign { border: 2px solid; } .sign.wait { border-top-color: Highlight; } }
.amount { margin: .5rem 0 1.25rem; font-size: clamp(1.25rem, 7.5vw, 2.25rem); font-weight: 700; font-variant-numeric: tabular-nums; }
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
input[type=radio], input[type=checkbox] { display: inline-block; flex: none; width: 1.25rem; min-height: 1.25rem;
  height: 1.25rem; margin: 0; accent-color: var(--accent); }
fieldset { min-width: 0; margin: 1.25rem 0; padding: 0; border: 0; }
legend { padding: 0; margin: 0 0 .4rem; font-weight: 600; }
.choices { display: grid; grid-template-columns: repeat(auto-fill, minmax(10.5rem, 1fr)); gap: .4rem; }
.row { display: flex; flex-wrap: wrap; gap: 0 .5rem; align-items: end; }
.row label { flex: 1 1 10rem; }
.row button { width: auto; min-height: 2.75rem; margin: 0 0 1rem; padding: 0 1rem; }
h1 + form { margin-top: 1rem; }
.choice { display: flex; align-items: center; gap: .5rem; min-height: 2.75rem; padding: .5rem .75rem; cursor: pointer;
  border: 1px solid var(--line); border-radius: .6rem; }
.choice img { flex: none; border-radius: .45rem; background: #fff; object-fit: contain; }
.choice:has(:checked) { border-color: var(--accent); box-shadow: inset 0 0 0 1px var(--accent); }
.tick { display: flex; align-items: center; gap: .75rem; min-height: 2.75rem; margin-bottom: .5rem; }
h2 { margin: 1.5rem 0 .25rem; font-size: 1rem; line-height: 1.3; }
ol.steps { margin: 0 0 1.5rem; padding: 0; list-style: none; }
ol.steps li { padding: .6rem 0 .6rem 1rem; border-left: 3px solid var(--line); }
ol.steps time, .hint { display: block; color: var(--soft); font-size: .875rem; }
.problem { padding: .75rem; border: 2px solid currentColor; border-radius: .6rem; font-weight: 600; }
a { color: var(--accent); }
a.next { display: block; padding: .75rem 0; font-weight: 600; }
code { font-size: .9em; }
button, a.main { display: block; width: 100%; min-height: 3rem; margin-top: .75rem; border: 2px solid var(--accent);
  border-radius: .6rem; background: transparent; color: var(--accent); font: inherit; font-weight: 600; cursor: pointer; }
a.main { padding: .6rem 1rem; text-align: center; text-decoration: none; }
button.main, a.main { background: var(--accent); color: var(--on-accent); }
button:focus-visible, input:focus-visible, select:focus-visible, a:focus-visible { outline: 3px solid var(--text); outline-offset: 3px; }
.hidden { position: absolute; width: 1px; height: 1px; margin: -1px; overflow: hidden; clip-path: inset(50%); }
summary { padding: .6rem 0; cursor: pointer; font-weight: 600; }
.note { margin: 1.5rem 0 0; color: var(--soft); font-size: .875rem; }
@media print { :root { --page: #fff; --card: #fff; --text: #000; --soft: #333; --line: #999; }
  body { display: block; padding: 0; } main { max-width: none; border: 0; padding: 0; }
  a.next, .hint, .note, .sign, button, form, details { display: none; } }
`

/**
 * Looks at the page again in place: what has focus keeps it, and a new title is announced once. A page that
 * says no more that it is polled ends it; an answer of a busy service changes nothing.
 */
const POLL_SCRIPT = `(() => {
  const main = document.querySelector('main'), news = document.querySelector('[role=status]')
  let last = main.innerHTML
  const later = () => setTimeout(look, main.dataset.poll * 1000)
  async function look() {
    const answer = await fetch(location.href, { cache: 'no-store' }).catch(() => undefined)
    if (!answer || answer.status === 429 || answer.status >= 500) return later()
    if (answer.redirected) history.replaceState(null, '', answer.url)
    const next = new DOMParser().parseFromString(await answer.text(), 'text/html')
    const shown = next.querySelector('main')
    if (shown.innerHTML !== last) {
      last = shown.innerHTML
      const isOpen = main.querySelector('details[open]') !== null
      const href = main.contains(document.activeElement) && document.activeElement.getAttribute('href')
      main.replaceChildren(...shown.childNodes)
      if (isOpen) main.querySelector('details')?.setAttribute('open', '')
      if (href) ([...main.querySelectorAll('a')].find((a) => a.getAttribute('href') === href) ?? main.querySelector('a'))?.focus()
      if (next.title !== document.title) news.textContent = document.title = next.title
    }
    const on = next.querySelector('meta[http-equiv]')
    if (on) return location.replace(on.content.replace('0;url=', ''))
    if (!shown.dataset.poll) return
    main.dataset.poll = shown.dataset.poll
    later()
  }
  later()
})()`

export type PageOptions = {
  title: string
  /** The language of a payer's page; other pages are in English. */
  language?: Pick<PayerLanguage, 'tag' | 'checkout'> | undefined
  /** The name above the heading. */
  brand: string
  content: Html
  /** Allowed targets of its forms, as a CSP source list; by default none. */
  formTarget?: string
  /** The Referrer-Policy; by default no Referer is sent. */
  referrer?: 'same-origin'
  /** Asks for the page again after this many seconds, and shows what has changed in place (decision 293). */
  pollSeconds?: number
  /** Goes on to this address at once. */
  next?: string | undefined
  /** Runs at the end of the page, allowed by its hash. */
  script?: string
  /** The merchant's colour for the main button, as #RRGGBB; ignored if it is not one. */
  accent?: string
  /** Whether it shows images of this service. Images of other servers are never allowed. */
  hasImages?: boolean
}

/** A whole page. */
export function page(
  status: number,
  {
    title,
    language,
    brand,
    content,
    formTarget,
    referrer,
    pollSeconds,
    next,
    script: own,
    accent,
    hasImages,
  }: PageOptions,
): PageReply {
  const style = STYLE + mainButtonIn(accent)
  const script = pollSeconds === undefined ? own : POLL_SCRIPT
  const document = html`<!doctype html>
<html lang="${language?.tag ?? 'en'}">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<link rel="icon" href="data:,">
${next === undefined ? undefined : html`<meta http-equiv="refresh" content="0;url=${next}">`}
<title>${title}</title>
<style>${{ html: style }}</style>
</head>
<body>
<main${pollSeconds === undefined ? undefined : html` data-poll="${String(pollSeconds)}"`}>
<p class="brand">${brand}</p>
${content}
${pollSeconds === undefined ? undefined : html`<noscript><p><a href="">${language?.checkout.checkAgain ?? 'Check again'}</a></p></noscript>`}
</main>
${pollSeconds === undefined ? undefined : html`<p class="hidden" role="status"></p>`}
${script === undefined ? undefined : html`<script>${{ html: script }}</script>`}
</body>
</html>
`
  return {
    status,
    headers: {
      'content-type': 'text/html; charset=utf-8',
      ...safeHeaders(formTarget ?? "'none'", { style, script, hasImages, isPolling: pollSeconds !== undefined }),
      ...(referrer === undefined ? {} : { 'referrer-policy': referrer }),
    },
    body: document.html,
  }
}

/** The service's own colour, which has another for the dark. */
const OWN_ACCENT = /^#0b5fff$/i

/** What the main button is on, in light and dark, and the least contrast of its edge with it (WCAG 1.4.11). */
const CARDS = { light: '#FFFFFF', dark: '#19222D' }
const EDGE_CONTRAST_MIN = 3

/** Accepts six hex digits only, because the colour is user input and becomes part of a style sheet. */
function mainButtonIn(colour: string | undefined): string {
  if (colour === undefined || !/^#[0-9a-f]{6}$/i.test(colour) || OWN_ACCENT.test(colour)) return ''
  const edgeOn = (card: string): string => (contrastRatio(colour, card) < EDGE_CONTRAST_MIN ? 'var(--text)' : colour)
  return `button.main, a.main { background: ${colour}; border-color: ${edgeOn(CARDS.light)}; color: ${buttonTextOn(colour)}; }
@media (prefers-color-scheme: dark) { button.main, a.main { border-color: ${edgeOn(CARDS.dark)}; } }
`
}

/** Redirects the browser with a GET, whatever its method. */
export function seeOther(location: string): PageReply {
  return { status: 303, headers: { location, ...safeHeaders("'none'") }, body: '' }
}

/**
 * No frames, caches or Referer, because the address of the page contains the payer's secret. The style sheet and a page's
 * own script are allowed by their hashes.
 */
function safeHeaders(
  formTarget: string,
  {
    style = STYLE,
    script,
    hasImages,
    isPolling,
  }: Partial<Record<'style' | 'script', string | undefined>> & {
    hasImages?: boolean | undefined
    isPolling?: boolean
  } = {},
): Record<string, string> {
  const calls = isPolling === true ? "connect-src 'self'; " : ''
  const scripts = script === undefined ? '' : `script-src ${hashOf(script)}; ${calls}`
  // `data:` is the icon of the page, which is empty: Firefox asks for one, and says that the policy forbids it.
  const images = `img-src ${hasImages === true ? "'self' " : ''}data:; `
  return {
    'cache-control': 'no-store',
    'content-security-policy': `default-src 'none'; style-src ${hashOf(style)}; ${scripts}${images}form-action ${formTarget}; base-uri 'none'; frame-ancestors 'none'`,
    'referrer-policy': 'no-referrer',
    'x-content-type-options': 'nosniff',
    ...ALONE,
  }
}

function hashOf(text: string): string {
  return `'sha256-${createHash('sha256').update(text).digest('base64')}'`
}
