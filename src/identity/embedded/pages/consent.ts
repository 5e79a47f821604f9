import { html } from '../../../lib/html.ts'
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
  leadsTo: readonly string[]
}

/**
 * Asks before a program on somebody's machine gets tokens: unlike a portal it can't prove that it is what it says
 * (RFC 8252, section 8.6), so only the person can tell whether this was started by them.
 */
export function consentPage({ theme, action, program, email, leadsTo }: ConsentView): PageReply {
  const content = html`<h1>Allow ${program} to act for you?</h1>
<p>It can then do what <strong>${email}</strong> may do at ${theme.displayName}, until you sign out.</p>
<p>Allow this only if you started it yourself, just now.</p>
<form method="post" action="${action}">
<button class="main" type="submit" name="action" value="allow">Allow</button>
<button type="submit" name="action" value="cancel">Don't allow</button>
</form>`
  return page({ theme, title: `Allow ${program}?`, content, leadsTo })
}
