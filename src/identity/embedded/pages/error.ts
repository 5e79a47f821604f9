import type { KoaContextWithOIDC } from 'oidc-provider'
import { html } from '../../../lib/html.ts'
import { failurePage, lostSignInPage, messagePage } from './message.ts'
import { renderPage } from './shell.ts'
import type { Theme } from './style.ts'

/**
 * Errors that can't be redirected to the client. Client developers need the protocol's own code and description, which
 * are meant to be shown; a failure of ours shows no details.
 */
export function errorPage(theme: Theme) {
  return (
    ctx: KoaContextWithOIDC,
    out: { error: string; error_description?: string | undefined },
    failure: Error,
  ): void => {
    if (failure.name === 'SessionNotFound') return renderPage(ctx, lostSignInPage(theme))
    if (ctx.status >= 500) return renderPage(ctx, failurePage(theme, ctx.status))
    const description = out.error_description === undefined ? undefined : html`, ${out.error_description}`
    const content = html`<p>The program or page that sent you here made an invalid request. Go back and try again.</p>
<p class="note">For developers: <strong>${out.error}</strong>${description}</p>`
    renderPage(ctx, messagePage({ theme, title: 'Invalid request', status: ctx.status, content }))
  }
}
