import type { KoaContextWithOIDC } from 'oidc-provider'
import { html } from '../../../lib/html.ts'
import { failurePage, lostSignInPage, messagePage } from './message.ts'
import { renderPage } from './shell.ts'
import type { Theme } from './style.ts'

/**
 * What can't be sent back to the client. Whoever builds a client needs the protocol's own code and text, which are made
 * for showing; of a failure of ours there is nothing to show.
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
    const content = html`<p>The program or page that sent you here asked for something that can't be done. Go back and try again.</p>
<p class="note">For its developers: <strong>${out.error}</strong>${description}</p>`
    renderPage(ctx, messagePage({ theme, title: 'This request does not work', status: ctx.status, content }))
  }
}
