import { el } from '../dom.ts'
import { explainFailure } from '../failures.ts'
import { developerDetails, heading, mainButton, paragraph, plainButton, screenOf, spinner, backLink } from './parts.ts'
import { fillText } from './view.ts'
import type { View } from './view.ts'

/** ST-05 for a failed or rejected payment: why, whether money moved, and what the payer can do. */
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
    // A payer who may have paid must not cancel by going back.
    backLink(view, { type: nothingTaken ? 'CANCEL' : 'RETURN' }),
  )
}

export function loadingScreen({ l10n: { texts } }: View): HTMLElement {
  return screenOf(heading(texts.loading), spinner())
}

/** Another attempt has paid the order: not a failure, and nothing to do. */
export function paidBeforeScreen(view: View): HTMLElement {
  const { texts } = view.l10n
  return screenOf(
    heading(texts.paidBeforeTitle),
    paragraph(texts.paidBeforeText),
    backLink(view, { type: 'RETURN' }, 'button main'),
  )
}

/** The checkout can't be used: what the payer can do, and details for the shop's developer. */
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

/** Shown after leaving, if the page around the frame stays. */
export function leftScreen(view: View): HTMLElement {
  const { texts } = view.l10n
  return screenOf(heading(texts.leftTitle), paragraph(fillText(view, texts.leftText)))
}
