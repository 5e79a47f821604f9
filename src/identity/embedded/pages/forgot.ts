import { html } from '../../../lib/html.ts'
import { field, hidden, problemNote, titleOf } from './form.ts'
import { messagePage } from './message.ts'
import { page } from './shell.ts'
import type { PageReply } from './shell.ts'
import type { Theme } from './style.ts'

export type ForgotView = {
  theme: Theme
  action: string
  /** The sign-in that the person came from, to go back to. */
  interaction: string | undefined
  backPath: string | undefined
  problem?: string
}

export function forgotPage({ theme, action, interaction, backPath, problem }: ForgotView): PageReply {
  const content = html`<h1>Forgot your password?</h1>
<p>We send you a link to choose a new one.</p>
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

/** The same for an address that has an account and for one that has none. */
export function forgotSentPage(theme: Theme, minutes: number, backPath: string | undefined): PageReply {
  return messagePage({
    theme,
    title: 'Look into your mail',
    content: html`<p>If the address has an account here, a link is on its way. It works once, for ${String(minutes)} minutes.</p>
<p>Nothing there after a few minutes? Look among the unwanted mail, or check the address and try again.</p>
${backTo(backPath)}`,
  })
}

function backTo(path: string | undefined) {
  return path === undefined ? undefined : html`<p class="note"><a href="${path}">Back to signing in</a></p>`
}
