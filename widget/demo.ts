import { el } from './dom.ts'
import { demoToken, snippetOf } from './demo/order.ts'
import type { Order } from './demo/order.ts'
import { otherLoopbackOrigin } from './demo/other-origin.ts'
import { loadCheckout } from './package/load-checkout.ts'
import type { CheckoutEventType, Mounted } from './package/types.ts'

/*
 * The sandbox demo: a shop page with the checkout, its events and the HTML that a shop needs. It creates its token in
 * the browser, which a real shop must not do.
 */
const EVENTS: readonly CheckoutEventType[] = [
  'SVC_WIDGET_READY',
  'SVC_BANK_SELECTED',
  'SVC_PAYMENT_SUCCESS',
  'SVC_PAYMENT_FAILED',
  'SVC_PAYMENT_CANCELLED',
  'SVC_RESIZE',
]
const CONTAINER_ID = 'checkout-container'

const checkoutOrigin = otherLoopbackOrigin(location)
let mounted: Mounted | undefined

function find<Found extends HTMLElement>(id: string): Found {
  return document.getElementById(id) as Found
}

function orderOf(form: HTMLFormElement): Order {
  const fields = new FormData(form)
  const text = (name: string): string => String(fields.get(name) ?? '').trim()
  return {
    amount: text('amount'),
    currency: text('currency'),
    merchantName: text('merchantName'),
    merchantClientId: text('merchantClientId'),
    locale: text('locale'),
    isFast: fields.has('isFast'),
    noRedirect: fields.has('noRedirect'),
  }
}

async function show(order: Order): Promise<void> {
  const container = find(CONTAINER_ID)
  const token = demoToken(order, { checkoutOrigin, shopUrl: location.origin + location.pathname })
  find('snippet').textContent = snippetOf(order, { token, checkoutOrigin, containerId: CONTAINER_ID })
  mounted?.destroy()
  try {
    const checkout = await loadCheckout(checkoutOrigin)
    const { locale, noRedirect } = order
    mounted = checkout?.mount(container, { token, locale: locale === '' ? undefined : locale, noRedirect })
  } catch (error) {
    container.replaceChildren(el('p', { role: 'alert' }, (error as Error).message))
  }
}

function log(type: string, detail: unknown): void {
  find('no-events').hidden = true
  const time = new Date().toLocaleTimeString('en-GB')
  find('events').prepend(el('li', {}, el('strong', {}, type), ` ${time}`, el('code', {}, JSON.stringify(detail))))
}

async function copy(): Promise<void> {
  const done = await navigator.clipboard.writeText(find('snippet').textContent ?? '').then(
    () => 'Copied.',
    () => 'Copying is not allowed here: select the text instead.',
  )
  find('copied').textContent = done
}

const form = find<HTMLFormElement>('order')
find('origins').textContent = `${location.origin} shows ${checkoutOrigin}.`
for (const type of EVENTS) {
  find(CONTAINER_ID).addEventListener(type, (event) => log(type, (event as CustomEvent).detail))
}
form.addEventListener('submit', (event) => {
  event.preventDefault()
  void show(orderOf(form))
})
find('copy').addEventListener('click', () => void copy())
void show(orderOf(form))
