import type { FailureText } from '../../src/lib/locales/checkout/en-failures.ts'
import type { Texts } from '../../src/lib/locales/checkout/en.ts'
import { el } from '../dom.ts'
import { explainFailure } from '../failures.ts'
import {
  backLink,
  developerDetails,
  heading,
  mainButton,
  paragraph,
  plainButton,
  screenOf,
  webAddress,
} from './parts.ts'
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
    failureReason(texts, text),
    nothingTaken && paragraph(texts.nothingTaken),
    remedy !== 'none' && mainButton(remedy === 'again' ? texts.again : texts.otherBank, retry),
    // A payer who may have paid must not cancel by going back.
    backLink(view, { type: nothingTaken ? 'CANCEL' : 'RETURN' }),
  )
}

/** English has most of its failures in a file of their own, which loads now: few payers read one. */
function failureReason({ failures }: Texts, text: FailureText): HTMLElement {
  const reason = paragraph(failures[text] ?? '')
  if (failures[text] === undefined)
    void import('../../src/lib/locales/checkout/en-failures.ts').then(
      ({ failures: english }) => (reason.textContent = { ...failures, ...english }[text]),
      () => (reason.textContent = failures.UNKNOWN),
    )
  return reason
}

export function loadingScreen({ l10n: { texts } }: View): HTMLElement {
  return screenOf(heading(texts.loading), el('div', { class: 'bones', 'aria-hidden': 'true' }))
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

/** Shown after leaving, if the page around the frame stays: the link works without the page's help. */
export function leftScreen(view: View): HTMLElement {
  const { texts } = view.l10n
  const href = webAddress(view.state.checkout?.return_url ?? '')
  return screenOf(
    heading(texts.leftTitle),
    el('a', { class: 'button plain', href, target: '_top' }, fillText(view, texts.back)),
  )
}
