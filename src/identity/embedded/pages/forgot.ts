import { html } from '../../../lib/html.ts'
import { field, hidden, problemNote, titleOf } from './form.ts'
import { messagePage } from './message.ts'
import { page } from './shell.ts'
import type { PageReply } from './shell.ts'
import type { Theme } from './style.ts'

export type ForgotView = {
  theme: Theme
  action: string
  /** The sign-in to return to. */
  interaction: string | undefined
  backPath: string | undefined
  problem?: string
}

export function forgotPage({ theme, action, interaction, backPath, problem }: ForgotView): PageReply {
  const content = html`<h1>Forgot your password?</h1>
<p>Enter your e-mail address. We will send you a link to choose a new password.</p>
${problemNote(problem)}
<form method="post" action="${action}">
${interaction === undefined ? undefined : hidden('interaction', interaction)}
${field({ label: 'E-mail address', name: 'email', type: 'email', autocomplete: 'username', isFirst: true, isWrong: problem !== undefined })}
<button class="main" type="submit">Send the link</button>
</form>
${backTo(backPath)}`
  return page({
    theme,
    title: titleOf('Forgot your password?', problem),
    content,
    status: problem === undefined ? 200 : 422,
  })
}

/** The page is the same whether or not the address has an account. */
export function forgotSentPage(theme: Theme, minutes: number, backPath: string | undefined): PageReply {
  return messagePage({
    theme,
    title: 'Check your e-mail',
    content: html`<p>If this address has an account, we have sent a link to it. The link works once and expires after ${String(minutes)} minutes.</p>
<p>No e-mail after a few minutes? Check your spam folder, or check the address and try again.</p>
${backTo(backPath)}`,
  })
}

function backTo(path: string | undefined) {
  return path === undefined ? undefined : html`<p class="note"><a href="${path}">Back to sign-in</a></p>`
}
