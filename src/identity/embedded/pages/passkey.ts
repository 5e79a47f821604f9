import { html } from '../../../lib/html.ts'
import type { Html } from '../../../lib/html.ts'
import { hidden } from './form.ts'

/**
 * Shows the form of a passkey where the browser knows passkeys, asks the authenticator when it is sent, and sends it
 * with the answer. Another try needs no new page, because the challenge is used up by an answer alone.
 */
export const PASSKEY_SCRIPT = `addEventListener('DOMContentLoaded', () => {
  const form = document.querySelector('form[data-passkey]')
  const api = window.PublicKeyCredential
  if (!form || !api || !api.parseCreationOptionsFromJSON || !api.prototype.toJSON) return
  for (const part of document.querySelectorAll('[data-with-passkey]')) part.hidden = false
  const problem = form.querySelector('[role=alert]')
  const answer = form.elements.namedItem('passkey')
  form.addEventListener('submit', async (event) => {
    if (answer.value !== '') return
    event.preventDefault()
    problem.textContent = ''
    const options = JSON.parse(form.dataset.options)
    try {
      const credential = form.dataset.passkey === 'create'
        ? await navigator.credentials.create({ publicKey: api.parseCreationOptionsFromJSON(options) })
        : await navigator.credentials.get({ publicKey: api.parseRequestOptionsFromJSON(options) })
      answer.value = JSON.stringify(credential)
      form.requestSubmit(event.submitter)
    } catch (error) {
      problem.textContent = error.name === 'InvalidStateError'
        ? 'This device has a passkey for this account already.'
        : 'No passkey was used: it was cancelled, took too long, or is not on this device. Try again, or use another way.'
    }
  })
})`

export type PasskeyForm = {
  action: string
  /** To create a passkey, or to use one. */
  kind: 'create' | 'get'
  /** For the browser's `navigator.credentials`. */
  options: object
  content: Html
}

/** A form that an authenticator fills in. Without scripts it stays hidden. */
export function passkeyForm({ action, kind, options, content }: PasskeyForm): Html {
  return html`<form method="post" action="${action}" data-passkey="${kind}" data-options="${JSON.stringify(options)}" data-with-passkey hidden>
<p class="wrong" role="alert"></p>
${hidden('passkey', '')}
${content}
</form>`
}
