import { html } from '../../../lib/html.ts'
import type { Scope } from '../../../lib/permissions.ts'
import { page } from './shell.ts'
import type { PageReply } from './shell.ts'
import type { Theme } from './style.ts'

export type ConsentView = {
  theme: Theme
  action: string
  /** The program that asks for consent, by the name its user knows. */
  program: string
  /** The signed-in user. */
  email: string
  /**
   * The requested scopes, as far as the realm has them. In a realm without scopes a program may do everything that the
   * user may do.
   */
  scopes: readonly Scope[]
  formTargets: readonly string[]
}

/** What each scope allows, in words for the user. */
const SCOPE_TEXTS: Readonly<Record<Scope, string>> = {
  accounts: 'see your accounts, balances and transactions',
  payments: 'make payments from your accounts, and request payments from others',
}

/**
 * Asks for consent before a program on the user's machine gets tokens. Unlike a portal such a program can't prove its
 * identity (RFC 8252, section 8.6), so only the user can say whether they started the sign-in.
 */
export function consentPage({ theme, action, program, email, scopes, formTargets }: ConsentView): PageReply {
  const who = html`<strong>${email}</strong>`
  const content = html`<h1>Allow ${program} to act for you?</h1>
${
  scopes.length === 0
    ? html`<p>It can then do what ${who} may do at ${theme.displayName}, until you sign out.</p>`
    : html`<p>It can then act for ${who} at ${theme.displayName}, until you sign out. It may:</p>
<ul>${scopes.map((scope) => html`<li>${SCOPE_TEXTS[scope]}</li>`)}</ul>`
}
<p>Allow this only if you started it yourself, just now.</p>
<form method="post" action="${action}">
<button class="main" type="submit" name="action" value="allow">Allow</button>
<button type="submit" name="action" value="cancel">Don't allow</button>
</form>`
  return page({ theme, title: `Allow ${program}?`, content, formTargets })
}
