import type { DisputeReason } from '../../src/wire/dispute-fields.ts'
import { el } from '../dom.ts'
import type { Draft, Hub } from './hub-context.ts'
import { loadView } from './load-view.ts'
import { alertBox, button, fact, form, problemText } from './parts.ts'
import { hashOf } from './routes.ts'
import { statementField } from './statement-field.ts'

/** The reasons, in the order shown. */
const REASONS: readonly DisputeReason[] = [
  'ITEM_NOT_RECEIVED',
  'DUPLICATE_PAYMENT',
  'INCORRECT_AMOUNT',
  'UNAUTHORISED',
  'OTHER',
]

/** The dispute form, with an unsent draft filled in. */
export async function showDispute(hub: Hub, id: string): Promise<void> {
  const { texts } = hub
  const back = el('p', { class: 'back' }, el('a', { href: hashOf({ name: 'payment', id }) }, texts.payment.title))
  await loadView(hub, {
    title: texts.dispute.title,
    load: () => hub.api.getPayment(id),
    render: (payment) => [
      back,
      el(
        'p',
        {},
        el('strong', { class: 'plain' }, payment.merchant_name),
        ', ',
        hub.format.money(payment.gross_amount, payment.currency),
        ', ',
        hub.format.day(payment.created_at),
      ),
      ...(payment.is_disputable ? [disputeForm(hub, id)] : [alertBox('note', texts.dispute.notDisputable)]),
    ],
    refused: () => [back, alertBox('bad', texts.payment.notFound)],
  })
}

function disputeForm(hub: Hub, id: string): HTMLElement {
  const { dispute: texts } = hub.texts
  const draft: Draft = hub.drafts.get(id) ?? { reason: undefined, statement: '' }
  hub.drafts.set(id, draft)
  const reasons = reasonField(hub, draft)
  const statement = statementField(hub, draft)
  return el(
    'div',
    {},
    el('p', {}, texts.lead),
    form(
      hub.texts.checkout.continue,
      () => {
        // Both fields show their errors; the first one gets the focus.
        const isStatementValid = statement.check()
        if (reasons.check() && isStatementValid) showCheck(hub, id, draft)
      },
      reasons.element,
      statement.element,
    ),
  )
}

function reasonField({ texts: { dispute: texts } }: Hub, draft: Draft): { element: HTMLElement; check(): boolean } {
  const error = el('p', { id: 'reason-error', class: 'error', role: 'alert' })
  const unauthorised = el('p', { class: 'hint', role: 'status' })
  const set = (reason: DisputeReason): void => {
    draft.reason = reason
    error.textContent = ''
    unauthorised.textContent = reason === 'UNAUTHORISED' ? texts.unauthorised : ''
  }
  const choice = (reason: DisputeReason): HTMLElement =>
    el(
      'label',
      { class: 'choice' },
      el('input', {
        type: 'radio',
        name: 'reason',
        value: reason,
        checked: reason === draft.reason,
        onchange: () => set(reason),
      }),
      texts.reasons[reason],
    )
  const element = el(
    'fieldset',
    { 'aria-describedby': 'reason-error' },
    el('legend', {}, texts.legend),
    error,
    ...REASONS.map(choice),
    unauthorised,
  )
  if (draft.reason !== undefined) set(draft.reason)
  const check = (): boolean => {
    if (draft.reason !== undefined) return true
    error.textContent = texts.reasonMissing
    element.querySelector('input')?.focus()
    return false
  }
  return { element, check }
}

/** Shows the dispute before it is sent, because it can't be withdrawn (WCAG 3.3.4). */
function showCheck(hub: Hub, id: string, draft: Draft): void {
  const { dispute: texts } = hub.texts
  const { reason } = draft
  if (reason === undefined) return
  const statement = draft.statement.trim()
  const problem = el('div', {})
  const stage = hub.show(
    texts.checkTitle,
    el('p', {}, texts.checkLead),
    el(
      'dl',
      {},
      fact(texts.reason, texts.reasons[reason]),
      fact(texts.words, el('span', { class: 'words' }, statement === '' ? texts.noWords : statement)),
    ),
    problem,
    el(
      'div',
      { class: 'actions' },
      button(texts.send, 'main', async () => {
        problem.replaceChildren()
        const words = statement === '' ? {} : { payer_statement: statement }
        const result = await hub.api.raiseDispute(id, { reason, ...words })
        if (result.ok) hub.drafts.delete(id)
        if (!stage.isCurrent()) return
        if (result.ok) return hub.go({ name: 'payment', id }, texts.sent)
        if (result.problem.kind === 'signed-out') return hub.signedOut('ended')
        const { code } = result.problem.kind === 'refused' ? result.problem : { code: '' }
        const known: Readonly<Record<string, string>> = {
          DISPUTE_ALREADY_OPEN: texts.alreadyOpen,
          PAYMENT_NOT_DISPUTABLE: texts.notDisputable,
        }
        problem.append(alertBox('bad', known[code] ?? problemText(hub.texts, result.problem)))
      }),
      button(texts.change, 'plain', () => hub.again()),
    ),
  )
}
