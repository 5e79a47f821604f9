import { bankLink, heading, mainButton, paragraph, screenOf, spinner, backLink } from './parts.ts'
import { fillText } from './view.ts'
import type { View } from './view.ts'

/** ST-04's text for the payment as last received. */
export function progressText(view: View): string {
  const { texts } = view.l10n
  return fillText(view, view.state.seen?.status === 'Authorised' ? texts.authorisedText : texts.processingText)
}

/** ST-04: waiting for the bank. Cancelling is no longer possible. */
export function processingScreen(view: View): HTMLElement {
  const { texts } = view.l10n
  return screenOf(
    heading(texts.processingTitle),
    spinner(),
    paragraph(progressText(view), 'progress'),
    view.state.seen?.status !== 'Authorised' && bankLink(view, fillText(view, texts.openAgain), 'back'),
  )
}

/** ST-04 after the last poll, with a manual check and the link back (decision 63). */
export function waitingScreen(view: View): HTMLElement {
  const { texts } = view.l10n
  return screenOf(
    heading(texts.waitingTitle),
    paragraph(fillText(view, texts.waitingText)),
    mainButton(texts.checkAgain, () => view.send({ type: 'CHECK_AGAIN' })),
    backLink(view, { type: 'RETURN' }),
  )
}
