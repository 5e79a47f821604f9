import { el } from '../dom.ts'
import type { Child } from '../dom.ts'
import { backLink, heading, hidden, mainButton, paragraph, plainButton, rows, screenOf } from './parts.ts'
import { amountOf, fillText } from './view.ts'
import type { View } from './view.ts'

/** ST-01: the payment that the payer authorises, in one sentence, and its facts. */
export function consentScreen(view: View): HTMLElement {
  const { texts } = view.l10n
  return screenOf(
    heading(texts.consentTitle),
    paragraph(fillText(view, texts.consentText)),
    consentFacts(view),
    ...chooseBank(view),
    backLink(view, { type: 'CANCEL' }),
  )
}

/** The bank used last is one click away, and the others one more. */
function chooseBank(view: View): HTMLElement[] {
  const { texts, fill } = view.l10n
  const { preferred: bank } = view
  const goOn = (): void => view.send({ type: 'CONTINUE' })
  if (!bank?.available) return [mainButton(texts.continue, goOn)]
  return [
    mainButton(fill(texts.quickPay, { bank: bank.name }), () => view.send({ type: 'CHOOSE', bank })),
    plainButton(texts.otherBank, goOn),
  ]
}

/** What a payer has to know before going to the bank: payee and account, amount, reference, and who provides the service. */
export function consentFacts(view: View): HTMLElement[] {
  const { texts, fill } = view.l10n
  const { checkout, payment } = view.state
  if (checkout === undefined) return []
  const { payee_name, payee_account_end: end, remittance_reference, provider } = checkout
  const reference = remittance_reference ?? payment?.end_to_end_id
  const payee = end === null ? payee_name : `${payee_name}, ${fill(texts.accountEnd, { end })}`
  const facts: (readonly [string, string])[] = [
    [texts.payee, payee],
    [texts.amount, amountOf(checkout, view.l10n)],
  ]
  return [
    rows(reference == null ? facts : [...facts, [texts.reference, reference]]),
    ...(provider.name === null
      ? []
      : [
          el(
            'p',
            { class: 'provider' },
            fill(texts.provider, { provider: provider.name }),
            providerLink(view, provider.terms_url, texts.terms),
            providerLink(view, provider.privacy_url, texts.privacy),
          ),
        ]),
  ]
}

function providerLink({ l10n: { texts } }: View, href: string | null, label: string): Child {
  return href !== null && el('a', { href, target: '_blank', rel: 'noopener' }, label, ' ', hidden(texts.newTab))
}
