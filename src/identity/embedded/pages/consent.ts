import { html } from '../../../lib/html.ts'
import type { Scope } from '../../../lib/permissions.ts'
import { page } from './shell.ts'
import type { PageReply } from './shell.ts'
import type { Theme } from './style.ts'

export type ConsentView = {
  theme: Theme
  action: string
  /** The program that asks, by the name that its user knows. */
  program: string
  /** Who is signed in. */
  email: string
  /** What it asks for, of what its realm has; a program of a realm without scopes may do what the person may. */
  scopes: readonly Scope[]
  formTargets: readonly string[]
}

/** What each scope lets a program do, in its user's words. */
const SCOPE_TEXTS: Readonly<Record<Scope, string>> = {
  accounts: 'look at your accounts, balances and transactions',
  payments: 'order payments from your accounts, and ask others for money',
}

/**
 * Asks before a program on somebody's machine gets tokens: unlike a portal it can't prove that it is what it says
 * (RFC 8252, section 8.6), so only the person can tell whether this was started by them.
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
