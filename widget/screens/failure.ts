import { el } from '../dom.ts'
import { explainFailure } from '../failures.ts'
import { developerDetails, heading, mainButton, paragraph, plainButton, screenOf, spinner, backLink } from './parts.ts'
import { fillText } from './view.ts'
import type { View } from './view.ts'

/** ST-05 of a payment that failed or was refused: why, whether money moved, and what can be done. */
export function failureScreen(view: View): HTMLElement {
  const { texts } = view.l10n
  const { text, remedy, nothingTaken } = explainFailure(view.state.failure ?? '', view.state.seen?.failure?.source)
  const retry = (): void => view.send({ type: 'RETRY' })
  return screenOf(
    el('div', { class: 'sign bad', 'aria-hidden': 'true' }, '!'),
    heading(texts.failedTitle),
    paragraph(texts.failures[text]),
    nothingTaken && paragraph(texts.nothingTaken),
    remedy !== 'none' && mainButton(remedy === 'again' ? texts.again : texts.otherBank, retry),
    // Who may have paid already does not cancel by going back.
    backLink(view, { type: nothingTaken ? 'CANCEL' : 'RETURN' }),
  )
}

export function loadingScreen({ l10n: { texts } }: View): HTMLElement {
  return screenOf(heading(texts.loading), spinner())
}

/** The order was paid before, by another attempt. No failure: the payer has nothing to do. */
export function paidBeforeScreen(view: View): HTMLElement {
  const { texts } = view.l10n
  return screenOf(
    heading(texts.paidBeforeTitle),
    paragraph(texts.paidBeforeText),
    backLink(view, { type: 'RETURN' }, 'button main'),
  )
}

/** There is no checkout: what the payer can do, and below it what the shop's developer has to know. */
export function unusableScreen(view: View): HTMLElement {
  const { texts } = view.l10n
  const { problem } = view.state
  return screenOf(
    el('div', { class: 'sign bad', 'aria-hidden': 'true' }, '!'),
    heading(texts.unusableTitle),
    el('p', { role: 'alert' }, problem?.again === true ? texts.failures.NETWORK : texts.unusableText),
    problem?.again === true
      ? plainButton(texts.again, () => view.send({ type: 'RELOAD' }))
      : problem && developerDetails(texts, problem.message, problem.code),
  )
}

/** After the way back was taken, where the page around the frame stays. */
export function leftScreen(view: View): HTMLElement {
  const { texts } = view.l10n
  return screenOf(heading(texts.leftTitle), paragraph(fillText(view, texts.leftText)))
}
