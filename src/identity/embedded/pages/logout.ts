import type { KoaContextWithOIDC } from 'oidc-provider'
import { html } from '../../../lib/html.ts'
import { hidden } from './form.ts'
import { messagePage } from './message.ts'
import { formSourceOf, page, renderPage } from './shell.ts'
import type { Theme } from './style.ts'

/** Submits the form. Without scripts the user presses the button. */
const SUBMIT = `addEventListener('DOMContentLoaded', () => document.forms[0].submit())`

/**
 * Signs out. With an ID token that the library has verified, the request comes from the user's own client and the form
 * submits itself. Without one anybody could have made the link, so the user is asked.
 */
export function logoutPages(theme: Theme) {
  return {
    logoutSource: (ctx: KoaContextWithOIDC): void => {
      const state = stateOf(ctx)
      const needsConfirmation = ctx.oidc.entities.IdTokenHint === undefined
      const content = html`<h1>${needsConfirmation ? 'Sign out?' : 'Signing out'}</h1>
<form method="post" action="${new URL(ctx.oidc.urlFor('end_session_confirm')).pathname}">
${hidden('xsrf', state.secret)}
${needsConfirmation ? undefined : hidden('logout', 'yes')}
<button class="main" type="submit" name="logout" value="yes">Sign out</button>
${needsConfirmation ? html`<button type="submit">Stay signed in</button>` : undefined}
</form>`
      const reply = page({
        theme,
        title: 'Sign out',
        content,
        formTargets: formSourceOf(state.postLogoutRedirectUri),
        ...(needsConfirmation ? {} : { script: SUBMIT }),
      })
      renderPage(ctx, reply)
    },
    postLogoutSuccessSource: (ctx: KoaContextWithOIDC): void => {
      const content = html`<p>You can close this page.</p>`
      renderPage(ctx, messagePage({ theme, title: 'You are signed out', content }))
    },
  }
}

/** The state that the library keeps until the form is submitted. */
function stateOf(ctx: KoaContextWithOIDC): { secret: string; postLogoutRedirectUri: string | undefined } {
  const state: unknown = ctx.oidc.session?.state
  if (typeof state !== 'object' || state === null) return { secret: '', postLogoutRedirectUri: undefined }
  return {
    secret: 'secret' in state ? String(state.secret) : '',
    postLogoutRedirectUri:
      'postLogoutRedirectUri' in state && typeof state.postLogoutRedirectUri === 'string'
        ? state.postLogoutRedirectUri
        : undefined,
  }
}
