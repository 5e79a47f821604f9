import { html } from '../../../lib/html.ts'
import type { Html } from '../../../lib/html.ts'
import { page } from './shell.ts'
import type { PageOptions, PageReply } from './shell.ts'
import type { Theme } from './style.ts'

export type Message = {
  theme: Theme
  title: string
  content: Html
  status?: number
  headers?: NonNullable<PageOptions['headers']>
}

/** Says something, and asks for nothing. */
export function messagePage({ theme, title, content, ...rest }: Message): PageReply {
  return page({ theme, title, content: html`<h1>${title}</h1>\n${content}`, ...rest })
}

/** A link that was used, ran out, or never was: one and the same page, so that nobody learns which. */
export function unusableLinkPage(theme: Theme, forgotPath: string): PageReply {
  return messagePage({
    theme,
    title: 'This link can no longer be used',
    status: 410,
    content: html`<p>Each link works once, and only for a while. If you have set your password already, sign in with it.</p>
<p>If you have not, <a href="${forgotPath}">have a new link sent to you</a>.</p>`,
  })
}

/** Who asks too often waits. */
export function tooManyPage(theme: Theme, retryAfterSeconds: number): PageReply {
  return messagePage({
    theme,
    title: 'Too many tries',
    status: 429,
    headers: { 'retry-after': String(retryAfterSeconds) },
    content: html`<p>There were too many tries from your network. Wait ${durationOf(retryAfterSeconds)}, go back, and try again.</p>`,
  })
}

function durationOf(seconds: number): string {
  if (seconds <= 1) return 'a second'
  return seconds < 100 ? `${String(seconds)} seconds` : `${String(Math.ceil(seconds / 60))} minutes`
}

/** A sign-in that this browser knows nothing of, or no longer. */
export function lostSignInPage(theme: Theme): PageReply {
  return messagePage({
    theme,
    title: 'This sign-in has ended',
    status: 400,
    content: html`<p>It took too long, was finished already, or was begun in another browser.</p>
<p>Go back to where you came from, and sign in again from there.</p>`,
  })
}

/** A form that did not come from our page. */
export function unreadablePage(theme: Theme): PageReply {
  return messagePage({
    theme,
    title: 'This form could not be read',
    status: 400,
    content: html`<p>Nothing was changed. Go back, load the page again, and send the form from there.</p>`,
  })
}

/** Something of ours failed. What it was stands in the log alone. */
export function failurePage(theme: Theme, status = 503): PageReply {
  return messagePage({
    theme,
    title: 'Something went wrong',
    status,
    headers: { 'retry-after': '5' },
    content: html`<p>This is our fault, not yours. Try again in a moment.</p>`,
  })
}
