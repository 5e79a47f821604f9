import { html } from '../../../lib/html.ts'
import { clientIdsOf } from '../../../lib/realms.ts'
import { PASSWORD_LENGTH } from '../users/passwords.ts'
import { field, hidden, problemNote, titleOf } from './form.ts'
import { messagePage } from './message.ts'
import { page } from './shell.ts'
import type { PageReply } from './shell.ts'
import type { Theme } from './style.ts'

export type SetPasswordView = {
  theme: Theme
  purpose: 'invite' | 'reset'
  action: string
  /** The link's token, which authorises the form. */
  token: string
  email: string
  problem?: string
}

const HEADINGS = { invite: 'Welcome: choose a password', reset: 'Choose a new password' }

/**
 * Accepts an invitation or replaces a forgotten password. Opening the page does not use the link up; submitting the
 * form does.
 */
export function setPasswordPage({ theme, purpose, action, token, email, problem }: SetPasswordView): PageReply {
  const title = HEADINGS[purpose]
  const isWrong = problem !== undefined
  // Password managers store the password under the address, so the address is a field as well.
  const content = html`<h1>${title}</h1>
${purpose === 'invite' ? html`<p>You were invited to ${theme.displayName}. You will sign in with this address and password.</p>` : undefined}
${problemNote(problem)}
<form method="post" action="${action}">
${hidden('token', token)}
${field({ label: 'E-mail address', name: 'email', type: 'email', autocomplete: 'username', value: email, attributes: html` readonly` })}
${field({ label: 'Password', name: 'password', type: 'password', autocomplete: 'new-password', isWrong, isFirst: true, hint: `At least ${String(PASSWORD_LENGTH.min)} characters. Several words are easier to remember than symbols.` })}
${field({ label: 'Repeat password', name: 'repeated', type: 'password', autocomplete: 'new-password', isWrong })}
<button class="main" type="submit">Set password</button>
</form>`
  return page({ theme, title: titleOf(title, problem), content, status: isWrong ? 422 : 200 })
}

export type PasswordSetView = {
  theme: Theme
  purpose: 'invite' | 'reset'
  slug: string
  clientId: string
  redirectUri: string | null
}

/** The next step, for users of a browser and of a terminal. */
export function passwordSetPage({ theme, purpose, slug, clientId, redirectUri }: PasswordSetView): PageReply {
  const title = purpose === 'invite' ? 'Your account is ready' : 'Your password is set'
  const portal = portalAddressOf(redirectUri)
  const hasTerminal = clientId === clientIdsOf(slug).portal || clientId === clientIdsOf(slug).cli
  return messagePage({
    theme,
    title,
    content: html`${purpose === 'invite' ? html`<p>Your password is set.</p>` : html`<p>You have been signed out on all devices. Sign in with your new password.</p>`}
${portal === undefined ? undefined : html`<a class="button" href="${portal}">Sign in</a>`}
${hasTerminal ? html`<p class="note">To sign in from a terminal, run:</p><kbd>svc login --realm ${slug}</kbd>` : undefined}`,
  })
}

/** Only web addresses may become links. */
function portalAddressOf(redirectUri: string | null): string | undefined {
  if (redirectUri === null || !URL.canParse(redirectUri)) return undefined
  const { protocol, href } = new URL(redirectUri)
  return protocol === 'https:' || protocol === 'http:' ? href : undefined
}
