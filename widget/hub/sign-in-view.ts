import type { PayerContact } from '../../src/wire/payer.ts'
import { el } from '../dom.ts'
import type { Hub } from './hub-context.ts'
import { alertBox, button, form, problemText } from './parts.ts'
import { sandboxHint } from './sandbox-hint.ts'

type ContactMethod = 'email' | 'phone'

/** `notice` explains why the payer has to sign in; `isRenewal`: a session is still active. */
export type SignInOptions = { notice?: HTMLElement; isRenewal?: boolean }

/**
 * Asks for the address or number to send a link to. The response is the same whether or not it is known (decision 25).
 */
export function showSignIn(hub: Hub, { notice, isRenewal = false }: SignInOptions = {}): void {
  const { signIn: texts } = hub.texts
  const field = contactField(hub)
  const problem = el('div', {})
  const stage = hub.show(
    isRenewal ? hub.texts.session.newLink : texts.title,
    notice,
    el('p', {}, texts.lead),
    form(
      texts.send,
      async () => {
        problem.replaceChildren()
        const contact = field.read()
        if (contact === undefined) return
        const result = await hub.api.requestLink(contact)
        if (!stage.isCurrent()) return
        if (result.ok) return showSent(hub, contact, isRenewal)
        const { problem: why } = result
        if (why.kind === 'refused' && why.code === 'VALIDATION_FAILED') field.reject(why.fields[0]?.code)
        else problem.append(alertBox('bad', problemText(hub.texts, why)))
      },
      field.element,
      problem,
    ),
  )
}

type ContactField = { element: HTMLElement; read(): PayerContact | undefined; reject(code?: string): void }

/** One field for either kind of contact; the choice above it decides which. */
function contactField({ texts: { signIn: texts } }: Hub): ContactField {
  let method: ContactMethod = 'email'
  const input = el('input', { id: 'contact', 'aria-describedby': 'contact-hint contact-error' })
  const label = el('label', { for: 'contact' })
  const hint = el('p', { id: 'contact-hint', class: 'hint' })
  const error = el('p', { id: 'contact-error', class: 'error', role: 'alert' })
  const setError = (text: string): void => {
    error.textContent = text
    input.setAttribute('aria-invalid', String(text !== ''))
  }
  const set = (selected: ContactMethod): void => {
    method = selected
    label.textContent = selected === 'email' ? texts.email : texts.phone
    hint.textContent = selected === 'email' ? '' : texts.phoneHint
    input.type = selected === 'email' ? 'email' : 'tel'
    input.autocomplete = selected === 'email' ? 'email' : 'tel'
    setError('')
  }
  const reject = (code?: string): void => {
    // The service reports if it can't send text messages.
    setError(code === 'NOT_OFFERED' ? texts.phoneNotOffered : method === 'email' ? texts.emailWrong : texts.phoneWrong)
    input.focus()
  }
  const choice = (value: ContactMethod, text: string): HTMLElement =>
    el(
      'label',
      { class: 'choice' },
      el('input', { type: 'radio', name: 'way', value, checked: value === method, onchange: () => set(value) }),
      text,
    )
  const methods = el(
    'fieldset',
    { class: 'ways' },
    el('legend', {}, texts.legend),
    choice('email', texts.byEmail),
    choice('phone', texts.byPhone),
  )
  set('email')
  const read = (): PayerContact | undefined => {
    const value = input.value.trim()
    setError('')
    const isPossible = method === 'email' ? /^\S+@\S+$/.test(value) : (value.match(/\d/g) ?? []).length >= 5
    if (isPossible) return method === 'email' ? { email: value } : { phone: value }
    reject()
    return undefined
  }
  return { element: el('div', {}, methods, label, hint, input, error), read, reject }
}

/** Shows the same confirmation in every case. */
function showSent(hub: Hub, contact: PayerContact, isRenewal: boolean): void {
  const { signIn: texts } = hub.texts
  const method: ContactMethod = 'email' in contact ? 'email' : 'phone'
  const address = 'email' in contact ? contact.email : contact.phone
  const hint = el('div', {})
  const stage = hub.show(
    texts.sentTitle[method],
    el('p', {}, texts.sent[method]),
    el('p', { class: 'soft' }, `${texts.entered} `, el('strong', { class: 'plain' }, address)),
    el('p', { class: 'soft' }, texts.nothing),
    hint,
    el(
      'div',
      { class: 'actions' },
      button(texts.other, 'plain', () => showSignIn(hub, { isRenewal })),
    ),
  )
  // An address with characters that a shell interprets is left out of the command to copy.
  const isPlain = method === 'email' && /^[\w.+-]+@[\w.-]+$/.test(address)
  void sandboxHint(hub, isPlain ? address : undefined).then((shown) => {
    if (shown !== null && stage.isCurrent()) hint.append(shown)
  })
}
