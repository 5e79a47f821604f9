import type { App } from '../../app.ts'
import { DomainError } from '../../lib/errors.ts'
import { html } from '../../lib/html.ts'
import { completeSca } from '../../payments/complete-sca.ts'
import { findPaymentByValidState } from '../../payments/payer-access.ts'
import { getPayment } from '../../payments/get-payment.ts'
import type { PaymentWithHistory } from '../../payments/record.ts'
import { ScaComplete } from '../../wire/payments.ts'
import { page, seeOther } from './page.ts'
import type { PageReply } from './page.ts'

const BRAND = 'Payment'

/**
 * Handles the return of a payer from the bank: completes the authorisation with the bank's parameters, then redirects to
 * the same address without them, so that a reload repeats nothing.
 * @param path of the page that the payer returned to
 * @returns the payment to show, or the response to send
 */
export async function handleReturn(
  app: App,
  { path, query }: { path: string; query: URLSearchParams },
): Promise<{ payment: PaymentWithHistory } | { reply: PageReply }> {
  const state = query.get('state') ?? ''
  const payment = await findPaymentByValidState(app, state)
  if (payment === null) return { reply: unknownPayment() }
  const code = query.get('code')
  const error = query.get('error')
  if (code === null && error === null) {
    return { payment: await getPayment(app, { merchantId: payment.merchant_id, id: payment.id }) }
  }
  const body = ScaComplete.safeParse(code === null ? { state, error } : { state, code })
  if (!body.success) return { reply: unknownPayment() }
  try {
    await completeSca(app, { id: payment.id, body: body.data, rawBody: JSON.stringify(body.data) })
  } catch (failure) {
    if (!(failure instanceof DomainError)) throw failure
    if (failure.code !== 'CONSENT_EXPIRED') return { reply: refused(failure, failure.code === 'BANK_UNAVAILABLE') }
  }
  return { reply: seeOther(`${path}?${new URLSearchParams({ state })}`) }
}

function refused(failure: DomainError, tryAgain: boolean): PageReply {
  const content = html`<h1>Not confirmed yet</h1>
<p>${failure.message}.${tryAgain ? ' This page tries again by itself.' : ''}</p>`
  return page(tryAgain ? 502 : 400, {
    brand: BRAND,
    title: 'Not confirmed yet',
    content,
    ...(tryAgain ? { refreshSeconds: 2 } : {}),
  })
}

/** The page for a link without a payment. */
export function unknownPayment(): PageReply {
  const content = html`<h1>This link can't be used</h1>
<p>It belongs to no payment, or to one that ended a while ago. Ask the shop about your payment.</p>`
  return page(404, { brand: BRAND, title: "This link can't be used", content })
}
