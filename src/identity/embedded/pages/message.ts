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

/** A page with a message and no form. */
export function messagePage({ theme, title, content, ...rest }: Message): PageReply {
  return page({ theme, title, content: html`<h1>${title}</h1>\n${content}`, ...rest })
}

/** One page for links that were used, have expired or never existed, so that it does not reveal which. */
export function unusableLinkPage(theme: Theme, forgotPath: string): PageReply {
  return messagePage({
    theme,
    title: 'This link no longer works',
    status: 410,
    content: html`<p>Each link works once and expires. If you have already set your password, sign in with it.</p>
<p>If not, <a href="${forgotPath}">request a new link</a>.</p>`,
  })
}

/** The page for a throttled request. */
export function tooManyPage(theme: Theme, retryAfterSeconds: number): PageReply {
  return messagePage({
    theme,
    title: 'Too many attempts',
    status: 429,
    headers: { 'retry-after': String(retryAfterSeconds) },
    content: html`<p>There were too many attempts from your network. Wait ${durationOf(retryAfterSeconds)}, go back, and try again.</p>`,
  })
}

/** The page after too many mails with a code. The link for a forgotten password proves the address without one. */
export function tooManyMailsPage(theme: Theme, retryAfterSeconds: number, forgotPath: string): PageReply {
  return messagePage({
    theme,
    title: 'Too many codes were mailed',
    status: 429,
    headers: { 'retry-after': String(retryAfterSeconds) },
    content: html`<p>At most five codes an hour are mailed to one address.</p>
<p>Wait ${durationOf(retryAfterSeconds)} and sign in again, or <a href="${forgotPath}">choose a new password</a>: then no code is needed.</p>`,
  })
}

function durationOf(seconds: number): string {
  if (seconds <= 1) return 'a second'
  return seconds < 100 ? `${String(seconds)} seconds` : `${String(Math.ceil(seconds / 60))} minutes`
}

/** The sign-in is unknown to this browser, or over. */
export function lostSignInPage(theme: Theme): PageReply {
  return messagePage({
    theme,
    title: 'This sign-in has ended',
    status: 400,
    content: html`<p>It expired, was already completed, or was started in another browser.</p>
<p>Go back to the application and sign in again.</p>`,
  })
}

/** A form that was not sent from our own page. */
export function unreadablePage(theme: Theme): PageReply {
  return messagePage({
    theme,
    title: 'This form could not be read',
    status: 400,
    content: html`<p>Nothing was changed. Go back, reload the page and send the form again.</p>`,
  })
}

/** An internal failure. Its cause is only in the log. */
export function failurePage(theme: Theme, status = 503): PageReply {
  return messagePage({
    theme,
    title: 'Something went wrong',
    status,
    headers: { 'retry-after': '5' },
    content: html`<p>This is our fault, not yours. Try again in a moment.</p>`,
  })
}
