import { html } from '../../../lib/html.ts'
import { field, problemNote, titleOf } from './form.ts'
import { page } from './shell.ts'
import type { PageReply } from './shell.ts'
import type { Theme } from './style.ts'

export type LoginView = {
  theme: Theme
  action: string
  /** The path of the forgotten-password page. */
  forgotPath: string
  email?: string | undefined
  problem?: string
  status?: number
  formTargets: readonly string[]
}

/** The sign-in form, with e-mail address and password. */
export function loginPage({ theme, action, forgotPath, email, problem, status, formTargets }: LoginView): PageReply {
  const isWrong = problem !== undefined
  const hasEmail = email !== undefined && email !== ''
  const content = html`<h1>Sign in</h1>
${problemNote(problem)}
<form method="post" action="${action}">
${field({ label: 'E-mail address', name: 'email', type: 'email', autocomplete: 'username', value: email, isWrong, isFirst: !hasEmail })}
${field({ label: 'Password', name: 'password', type: 'password', autocomplete: 'current-password', isWrong, isFirst: hasEmail })}
<button class="main" type="submit">Sign in</button>
<button type="submit" name="action" value="cancel" formnovalidate>Cancel</button>
</form>
<p class="note"><a href="${forgotPath}">Forgot your password?</a></p>`
  return page({
    theme,
    title: titleOf('Sign in', problem),
    content,
    formTargets,
    ...(status === undefined ? {} : { status }),
  })
}
