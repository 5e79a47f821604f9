import { el } from '../dom.ts'
import {
  backLink,
  bankLink,
  heading,
  mainButton,
  otherBankButton,
  paragraph,
  plainButton,
  screenOf,
  spinner,
} from './parts.ts'
import { consentFacts } from './consent.ts'
import { fillText } from './view.ts'
import type { View } from './view.ts'

/** ST-03 while the payment is created. */
export function creatingScreen(view: View): HTMLElement {
  return screenOf(heading(fillText(view, view.l10n.texts.creatingTitle)), spinner())
}

export function cancellingScreen(view: View): HTMLElement {
  return screenOf(heading(view.l10n.texts.cancellingTitle), spinner())
}

/** ST-03: leads to the bank, on a touch screen by a link to its app, elsewhere by a QR code or in this browser. */
export function handoverScreen(view: View): HTMLElement {
  const { texts } = view.l10n
  return screenOf(
    ...(view.isTouch || view.sameTab ? byLink(view) : onDesktop(view)),
    view.state.checkout?.is_fast_path && consentFacts(view),
    paragraph(texts.safe, 'safe'),
    otherBankButton(view),
    backLink(view, { type: 'CANCEL' }),
  )
}

/** A phone or tablet may have the bank's app, or not: then another device can take over. So it is in the shop's own tab. */
function byLink(view: View): HTMLElement[] {
  const { texts } = view.l10n
  const details = el('details', { open: view.isTouch && view.isTablet }, el('summary', {}, texts.otherDevice))
  const fill = (): void => {
    if (!details.open || details.children.length > 1) return
    details.append(paragraph(texts.otherDeviceText), qrCanvas(view), copyField(view, shortAddress(view)))
  }
  details.addEventListener('toggle', fill)
  fill()
  return [
    heading(view.isTouch ? texts.mobileTitle : texts.consentTitle),
    paragraph(fillText(view, texts.mobileText)),
    bankLink(view, view.isTouch ? texts.openApp : texts.continue, 'button main'),
    details,
  ]
}

function onDesktop(view: View): HTMLElement[] {
  const { texts } = view.l10n
  const canvas = qrCanvas(view)
  const scanned = (): void => view.send({ type: 'HAND_OVER' })
  const link = copyField(view, shortAddress(view))
  const title = heading(texts.qrTitle)
  if (isUnreachableByPhone(view)) {
    const here = bankLink(view, texts.thisBrowser, 'button main')
    const text = paragraph(fillText(view, texts.mobileText))
    return [title, text, here, canvas, paragraph(texts.qrLocal, 'safe'), plainButton(texts.scanned, scanned), link]
  }
  const text = paragraph(fillText(view, texts.qrText))
  const here = bankLink(view, texts.thisBrowser, 'button plain')
  return [title, text, canvas, mainButton(texts.scanned, scanned), here, link]
}

function qrCanvas(view: View): HTMLElement {
  const canvas = el('canvas', { class: 'qr', role: 'img', 'aria-label': fillText(view, view.l10n.texts.qrLabel) })
  // The encoder is loaded on demand. Without it the link and the button remain.
  void import('../qr.ts').then(({ drawQr }) => drawQr(canvas, shortAddress(view))).catch(() => canvas.remove())
  return canvas
}

/** Whether this sandbox only runs on the local machine: a phone can't open its loopback address. */
function isUnreachableByPhone({ state: { checkout } }: View): boolean {
  return checkout?.mode === 'sandbox' && /^(localhost|127\..*|\[::1\])$/.test(location.hostname)
}

/** A short redirect to the bank, because the bank's own address may be too long for a camera. */
function shortAddress({ state: { payment } }: View): string {
  return `${location.origin}/go?state=${payment?.payment_state ?? ''}`
}

/** The link as text, for other devices. If the frame may not copy, the text is at least selected. */
function copyField(view: View, address: string): HTMLElement {
  const { texts } = view.l10n
  const field = el('input', { id: 'link', dir: 'ltr', readonly: true, value: address, onfocus: () => field.select() })
  const status = el('span', { role: 'status', class: 'hidden' })
  const button = el('button', { type: 'button', class: 'plain', onclick: () => void copy() }, texts.copy)
  async function copy(): Promise<void> {
    field.select()
    const isCopied = document.execCommand('copy') || (await copyWithClipboardApi(address))
    if (isCopied) status.textContent = button.textContent = texts.copied
  }
  return el('div', { class: 'copy' }, el('label', { for: 'link' }, texts.linkLabel), field, button, status)
}

/** The clipboard API, which frames can use only if the parent page allows it. */
async function copyWithClipboardApi(text: string): Promise<boolean> {
  try {
    await navigator.clipboard.writeText(text)
    return true
  } catch {
    return false
  }
}
