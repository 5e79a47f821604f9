import type { KoaContextWithOIDC } from 'oidc-provider'
import { html } from '../../../lib/html.ts'
import { field, hidden, problemNote, titleOf } from './form.ts'
import { lostSignInPage, messagePage } from './message.ts'
import { page, renderPage } from './shell.ts'
import type { PageReply } from './shell.ts'
import type { Theme } from './style.ts'

/**
 * The pages of the device flow, in the form that the protocol library expects. The library's own forms have event
 * handlers in attributes, which our content security policy blocks, so the forms are built here with the secret that
 * the library checks.
 */
export function devicePages(theme: Theme) {
  return {
    userCodeInputSource: (ctx: KoaContextWithOIDC, _form: string, _out?: unknown, failure?: Error): void => {
      renderPage(ctx, replyTo(ctx, theme, failure))
    },
    userCodeConfirmSource: (
      ctx: KoaContextWithOIDC,
      _form: string,
      _client: unknown,
      _device: unknown,
      userCode: string,
    ): void => {
      renderPage(ctx, confirmPage(theme, formOf(ctx), userCode))
    },
    successSource: (ctx: KoaContextWithOIDC): void => {
      renderPage(ctx, successPage(theme))
    },
  }
}

function replyTo(ctx: KoaContextWithOIDC, theme: Theme, failure: Error | undefined): PageReply {
  // Without a session there is no secret to submit another form with.
  if (failure !== undefined && isNew(ctx.oidc.session)) return lostSignInPage(theme)
  return failure?.name === 'AbortedError' ? cancelledPage(theme) : inputPage(theme, formOf(ctx), failure)
}

/** Whether the browser sent no session that we know. */
function isNew(session: object | undefined): boolean {
  return session !== undefined && 'new' in session && session.new === true
}

/** `status` is the status the library responds with; 422 for errors that the user can correct. */
type DeviceForm = { action: string; secret: string; status: number }

function formOf(ctx: KoaContextWithOIDC): DeviceForm {
  const state: unknown = ctx.oidc.session?.state
  const secret = typeof state === 'object' && state !== null && 'secret' in state ? String(state.secret) : ''
  return {
    action: new URL(ctx.oidc.urlFor('code_verification')).pathname,
    secret,
    status: ctx.status < 400 ? 422 : ctx.status,
  }
}

/** The message is the same for every unusable code. Guessing is slowed down by the throttle. */
function problemOf(failure: Error | undefined): string | undefined {
  if (failure === undefined) return undefined
  if (failure.name === 'NoCodeError') return 'Enter the code.'
  const isOfCode = ['NotFoundError', 'ExpiredError', 'AlreadyUsedError'].includes(failure.name)
  return isOfCode
    ? 'This code does not work. It is mistyped, already used or expired.'
    : 'This did not work. Enter the code again.'
}

function inputPage(theme: Theme, { action, secret, status }: DeviceForm, failure?: Error): PageReply {
  const problem = problemOf(failure)
  const content = html`<h1>Sign in on another device</h1>
<p>Enter the code that the device or the terminal shows.</p>
${problemNote(problem)}
<form method="post" action="${action}">
${hidden('xsrf', secret)}
${field({ label: 'Code', name: 'user_code', type: 'text', autocomplete: 'off', isFirst: true, isWrong: problem !== undefined, attributes: html` class="code" autocapitalize="characters" spellcheck="false"` })}
<button class="main" type="submit">Continue</button>
</form>`
  return page({
    theme,
    title: titleOf('Sign in on another device', problem),
    content,
    status: problem === undefined ? 200 : status,
  })
}

function confirmPage(theme: Theme, { action, secret }: DeviceForm, userCode: string): PageReply {
  const content = html`<h1>Do you see this code?</h1>
<p class="code-shown">${userCode}</p>
<p>Continue only if your own device or terminal shows this code and you started the sign-in yourself, just now. If someone
sent you the code, they would be signed in as you.</p>
<form method="post" action="${action}">
${hidden('xsrf', secret)}
${hidden('user_code', userCode)}
${hidden('confirm', 'yes')}
<button class="main" type="submit">Continue</button>
<button type="submit" name="abort" value="yes">This is not my code</button>
</form>`
  return page({ theme, title: 'Do you see this code?', content })
}

function successPage(theme: Theme): PageReply {
  return messagePage({
    theme,
    title: 'You are signed in',
    content: html`<p>Return to your device or terminal. You can close this page.</p>`,
  })
}

function cancelledPage(theme: Theme): PageReply {
  return messagePage({
    theme,
    title: 'Sign-in cancelled',
    content: html`<p>You are not signed in on the device. You can close this page.</p>`,
  })
}
