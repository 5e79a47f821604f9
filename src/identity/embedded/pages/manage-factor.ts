import { html } from '../../../lib/html.ts'
import type { Html } from '../../../lib/html.ts'
import { hidden, problemNote } from './form.ts'
import { factorFormPage, newPasskey } from './second-factor.ts'
import type { FactorView } from './second-factor.ts'
import type { PageReply } from './shell.ts'

export type ManageView = {
  hasApp: boolean
  passkeys: readonly { credential_id: string; name: string; created_at: string; last_used_at: string | null }[]
  recoveryCodeCount: number
  /** Undefined where browsers allow no passkeys. */
  passkeyOptions: object | undefined
}

/** What a person has as a second factor, after one was shown: to add, replace or remove, then continue. */
export function manageFactorPage(view: FactorView, factor: ManageView): PageReply {
  const title = 'Your second factor'
  const { hasApp, passkeys, recoveryCodeCount, passkeyOptions } = factor
  const isSeveral = passkeys.length + (hasApp ? 1 : 0) > 1
  const form = (content: Html): Html => html`<form method="post" action="${view.action}">\n${content}\n</form>`
  const removal = (part: string, label: string): Html | undefined =>
    isSeveral
      ? form(html`${hidden('part', part)}
<button type="submit" name="action" value="remove" aria-label="${label}">Remove</button>`)
      : undefined
  return factorFormPage(
    view,
    title,
    html`<h1>${title}</h1>
<p>If you have lost a device, remove it here or set up another one. Then choose a new password too: that ends all
sessions.</p>
${problemNote(view.problem)}
${form(html`<button class="main" type="submit" name="action" value="continue">Continue</button>`)}
<h2>Authenticator app</h2>
<p>${hasApp ? 'You have one. A new one replaces it, and you get new recovery codes.' : 'You have none.'}</p>
${form(html`<button type="submit" name="action" value="replace">Set up ${hasApp ? 'a new' : 'an'} app</button>`)}
${hasApp ? removal('app', 'Remove the app') : undefined}
${passkeys.map(
  ({ credential_id, name, created_at, last_used_at }) => html`<h2>${name}</h2>
<p>A passkey of ${dateOf(created_at)}, ${last_used_at === null ? 'not used since' : `used last on ${dateOf(last_used_at)}`}.</p>
${removal(credential_id, `Remove ${name}`)}`,
)}
${passkeyOptions && newPasskey(view, passkeyOptions, passkeys.length + 1)}
<h2>Recovery codes</h2>
<p>${String(recoveryCodeCount)} of them work.</p>
${form(html`<button type="submit" name="action" value="renew">Make new recovery codes</button>`)}`,
  )
}

function dateOf(time: string): string {
  return new Date(time).toISOString().slice(0, 10)
}
