import { html } from '../../../lib/html.ts'
import type { Html } from '../../../lib/html.ts'
import { qrCode } from '../../../lib/qr-code.ts'
import { base32, totpAddress } from '../../../lib/totp.ts'
import { field, problemNote, titleOf } from './form.ts'
import { PASSKEY_SCRIPT, passkeyForm } from './passkey.ts'
import { page } from './shell.ts'
import type { PageReply } from './shell.ts'
import type { Theme } from './style.ts'

export type FactorView = { theme: Theme; action: string; formTargets: readonly string[]; problem?: string | undefined }

const CANCEL = html`<button type="submit" name="action" value="cancel" formnovalidate>Cancel</button>`
const MANAGE = html`<button type="submit" name="action" value="manage">Continue, and change your second factor</button>`

/** Asks for a passkey, a code of the authenticator app, or a recovery code: for what the person has. */
export function factorPage(
  view: FactorView,
  { hasApp, passkeyOptions }: { hasApp: boolean; passkeyOptions: object | undefined },
): PageReply {
  const title = hasApp && passkeyOptions === undefined ? 'Enter your code' : 'Your second factor'
  const hint = hasApp
    ? 'The six digits that your authenticator app shows. If you have lost it, enter one of your recovery codes.'
    : 'One of your recovery codes, if you have no passkey here.'
  return factorFormPage(
    view,
    title,
    html`<h1>${title}</h1>
${problemNote(view.problem)}
${
  passkeyOptions &&
  passkeyForm({
    action: view.action,
    kind: 'get',
    options: passkeyOptions,
    content: html`<button class="main" type="submit">Use a passkey</button>
${MANAGE}`,
  })
}
<form method="post" action="${view.action}">
${codeField(view, hint, passkeyOptions === undefined)}
<button class="main" type="submit">Continue</button>
${MANAGE}
${CANCEL}
</form>`,
  )
}

/** Asks for the code that was mailed before a first factor is set up. */
export function mailedCodePage(view: FactorView, email: string): PageReply {
  const title = 'Check your e-mail'
  return factorFormPage(
    view,
    title,
    html`<h1>${title}</h1>
<p>Next you set up a second factor. To show that it is you, enter the code that was mailed to ${email}. It works for ten
minutes.</p>
${problemNote(view.problem)}
<form method="post" action="${view.action}">
${codeField(view, 'Eight letters and digits.')}
<button class="main" type="submit">Continue</button>
${CANCEL}
</form>`,
  )
}

export type SetUpView = { secret: Buffer; realm: string; email: string; passkeyOptions: object | undefined }

/**
 * The secret for the authenticator app, as a QR code and as text, and a first code as the proof that it has it; beside
 * it a passkey, where browsers allow one.
 */
export function setUpPage(view: FactorView, { secret, realm, email, passkeyOptions }: SetUpView): PageReply {
  const title = 'Set up a second factor'
  const groups = (base32(secret).match(/.{4}/g) ?? []).join(' ')
  return factorFormPage(
    view,
    title,
    html`<h1>${title}</h1>
<p>From now on you sign in to ${view.theme.displayName} with your password and an authenticator app${passkeyOptions && html`, or a passkey`}.</p>
${problemNote(view.problem)}
<h2>Authenticator app</h2>
<p>Scan this with an authenticator app on your phone, or type the key into it.</p>
${qrImage(totpAddress(secret, { issuer: realm, account: email }))}
<p>Key (by time, six digits):</p>
<kbd>${groups}</kbd>
<form method="post" action="${view.action}">
${codeField(view, 'The six digits that the app shows now.')}
<button class="main" type="submit">Continue</button>
${CANCEL}
</form>
${passkeyOptions && newPasskey(view, passkeyOptions, 1)}`,
  )
}

/** The form for a new passkey, with its number among the person's. */
export function newPasskey({ action }: FactorView, options: object, number: number): Html {
  return html`<div data-with-passkey hidden>
<h2>${number === 1 ? 'Passkey' : 'Another passkey'}</h2>
<p>On this device, your phone or a security key. It works on this site only, so no other site can ask for it.</p>
${passkeyForm({
  action,
  kind: 'create',
  options,
  content: html`${field({ label: 'Name', name: 'name', type: 'text', autocomplete: 'off', value: `Passkey ${String(number)}`, hint: 'For you to tell it apart, such as: work laptop.', attributes: html` maxlength="60"` })}
<button type="submit" name="action" value="add">Create a passkey</button>`,
})}
</div>`
}

/** The recovery codes, until the person continues. */
export function recoveryCodesPage(view: FactorView, codes: readonly string[]): PageReply {
  const title = 'Store your recovery codes'
  return factorFormPage(
    view,
    title,
    html`<h1>${title}</h1>
<p>If you lose your app or passkey, each of these codes signs you in once. They are not shown again: print them, or keep
them where you keep your passwords.</p>
<ul class="codes">${codes.map((code) => html`<li>${code}</li>`)}</ul>
<form method="post" action="${view.action}">
<button class="main" type="submit" name="action" value="continue">I have stored them</button>
<button type="submit" name="action" value="manage">I have, and now add or remove others</button>
</form>`,
  )
}

/** A page with forms of the second factor. */
export function factorFormPage({ theme, formTargets, problem }: FactorView, title: string, content: Html): PageReply {
  return page({
    theme,
    title: titleOf(title, problem),
    content,
    formTargets,
    script: PASSKEY_SCRIPT,
    status: problem === undefined ? 200 : 422,
  })
}

function codeField({ problem }: FactorView, hint: string, isFirst = true): Html {
  return field({
    label: 'Code',
    name: 'code',
    type: 'text',
    autocomplete: 'one-time-code',
    isFirst,
    isWrong: problem !== undefined,
    hint,
    attributes: html` class="code" autocapitalize="characters" spellcheck="false" maxlength="32"`,
  })
}

/** The quiet zone in modules (ISO/IEC 18004), and the longest text that the encoder takes. */
const QUIET = 4
const QR_BYTES_MAX = 180

/** Dark on white in every theme, because many readers need that. A very long address has the text alone. */
function qrImage(address: string): Html | undefined {
  if (address.length > QR_BYTES_MAX) return undefined
  const modules = qrCode(address)
  const size = String(modules.length + 2 * QUIET)
  // Each run of dark modules in a row is one rectangle.
  const dark = modules.flatMap((row, y) =>
    [
      ...row
        .map((isDark) => (isDark ? '1' : '0'))
        .join('')
        .matchAll(/1+/g),
    ].map(
      ({ 0: { length }, index }) =>
        `M${String(index + QUIET)} ${String(y + QUIET)}h${String(length)}v1h-${String(length)}z`,
    ),
  )
  return html`<svg class="qr" viewBox="0 0 ${size} ${size}" role="img" aria-label="QR code for an authenticator app">
<rect width="${size}" height="${size}" fill="#fff"/><path d="${dark.join('')}" fill="#000"/></svg>`
}
