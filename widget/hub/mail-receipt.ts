import type { PayerReceipt } from '../../src/wire/payer.ts'
import { el } from '../dom.ts'
import type { Problem } from './api.ts'
import type { Hub } from './hub-context.ts'
import { alertBox, button, problemText, waitText } from './parts.ts'
import { sandboxHint } from './sandbox-hint.ts'

/** The button that mails a receipt to the address of the session, and the place for what becomes of it. */
export function mailReceipt(hub: Hub, payment: PayerReceipt): { send: HTMLElement; outcome: HTMLElement } {
  const { payment: texts } = hub.texts
  const outcome = el('div', {})
  const send = button(texts.receiptMail, 'plain', async () => {
    outcome.replaceChildren()
    const result = await hub.api.sendReceipt(payment.payment_id)
    const hint = result.ok ? await sandboxHint(hub) : null
    if (!outcome.isConnected) return
    if (!result.ok)
      return result.problem.kind === 'signed-out' ? hub.signedOut('ended') : say('bad', problemOf(hub, result.problem))
    const { contact } = result.value
    say('good', hint === null ? texts.receiptMailed(contact) : texts.receiptReady(contact))
    outcome.append(hint ?? '')
  })
  const say = (kind: 'good' | 'bad', text: string): void => {
    outcome.replaceChildren(alertBox(kind, text))
    if (kind === 'good') hub.announce(text)
  }
  return { send, outcome }
}

function problemOf({ texts }: Hub, problem: Problem): string {
  if (problem.kind !== 'too-many') return problemText(texts, problem)
  return texts.payment.receiptMailedBefore(waitText(texts.problem, problem.retryAfterSeconds))
}
