import { heading, mainButton, paragraph, screenOf, wayBack } from './parts.ts'
import { say } from './view.ts'
import type { View } from './view.ts'

/** ST-01: what the payer authorises, in a sentence. */
export function consentScreen(view: View): HTMLElement {
  const { texts } = view.words
  return screenOf(
    heading(texts.consentTitle),
    paragraph(say(view, texts.consentText)),
    mainButton(texts.continue, () => view.send({ type: 'CONTINUE' })),
    wayBack(view, { type: 'CANCEL' }),
  )
}
