import type { PayerConsent } from '../../src/wire/payer.ts'
import { el } from '../dom.ts'
import type { Hub } from './hub-context.ts'
import { loadView } from './load-view.ts'
import { alertBox, button, problemText } from './parts.ts'
import { endedBox } from './permissions-view.ts'

/** Asks the payer to confirm the end of a mandate, and explains the consequences. */
export async function showCancel(hub: Hub, id: string): Promise<void> {
  await loadView(hub, {
    title: hub.texts.permissions.cancelTitle,
    load: hub.api.listConsents,
    render: ({ data }) => {
      const consent = data.find((one) => one.consent_id === id)
      return consent === undefined ? endedBox(hub) : confirmation(hub, consent)
    },
  })
}

function confirmation(hub: Hub, consent: PayerConsent): HTMLElement[] {
  const { permissions: texts } = hub.texts
  const merchant = consent.merchant_name
  const problem = el('div', {})
  const amount = hub.format.money(consent.max_amount_per_payment, consent.currency)
  const meanings = [texts.meaning(merchant), texts.meaningMade, texts.meaningOwed, texts.meaningFinal]
  const cancel = async (): Promise<void> => {
    problem.replaceChildren()
    const result = await hub.api.revokeConsent(consent.consent_id)
    // The payer may have moved to another view meanwhile, and stays there.
    if (!problem.isConnected) return
    if (result.ok) return hub.go({ name: 'permissions' }, texts.cancelled(merchant))
    if (result.problem.kind === 'signed-out') return hub.signedOut('ended')
    if (result.problem.kind === 'refused') problem.append(...endedBox(hub))
    else problem.append(alertBox('bad', problemText(hub.texts, result.problem)))
  }
  return [
    el('p', { class: 'who large' }, merchant),
    el('p', { class: 'soft' }, `${texts.perPayment}: ${texts.upTo(amount)}`),
    el('ul', {}, ...meanings.map((meaning) => el('li', {}, meaning))),
    problem,
    el(
      'div',
      { class: 'actions' },
      button(texts.confirm, 'danger', cancel),
      el('a', { class: 'button plain', href: '#permissions' }, texts.keep),
    ),
  ]
}
