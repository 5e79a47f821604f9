import { backLink, bankLink, heading, mainButton, otherBankButton, paragraph, screenOf, spinner } from './parts.ts'
import { fillText } from './view.ts'
import type { View } from './view.ts'

/** ST-04's text for the payment as last received. */
export function progressText(view: View): string {
  const { texts } = view.l10n
  if (view.state.isOffline) return texts.offlineText
  if (view.state.phase === 'waiting') return fillText(view, texts.waitingText)
  return fillText(view, isAtBank(view) ? texts.processingText : texts.authorisedText)
}

/** Whether the payer has not approved yet, as far as is known. */
function isAtBank({ state }: View): boolean {
  return state.seen?.status !== 'Authorised'
}

/** ST-04: waiting for the bank. Cancelling is no longer possible. */
export function processingScreen(view: View): HTMLElement {
  const { texts } = view.l10n
  return screenOf(
    heading(texts.processingTitle),
    spinner(),
    paragraph(progressText(view), 'progress'),
    isAtBank(view) && [bankLink(view, fillText(view, texts.openAgain), 'back'), otherBankButton(view)],
  )
}

/** ST-04 after the last poll, with a manual check and the link back (decision 63). */
export function waitingScreen(view: View): HTMLElement {
  const { texts } = view.l10n
  return screenOf(
    heading(texts.waitingTitle),
    paragraph(progressText(view)),
    mainButton(texts.checkAgain, () => view.send({ type: 'CHECK_AGAIN' })),
    isAtBank(view) && [bankLink(view, fillText(view, texts.openAgain), 'back'), otherBankButton(view)],
    backLink(view, { type: 'RETURN' }),
  )
}
