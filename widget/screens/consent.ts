import { heading, mainButton, paragraph, screenOf, backLink } from './parts.ts'
import { fillText } from './view.ts'
import type { View } from './view.ts'

/** ST-01: the payment that the payer authorises, in one sentence. */
export function consentScreen(view: View): HTMLElement {
  const { texts } = view.l10n
  return screenOf(
    heading(texts.consentTitle),
    paragraph(fillText(view, texts.consentText)),
    mainButton(texts.continue, () => view.send({ type: 'CONTINUE' })),
    backLink(view, { type: 'CANCEL' }),
  )
}
