import type { IncomingMessage } from 'node:http'
import type { App } from '../app.ts'
import { clientAddressOf } from '../lib/client-address.ts'
import { DomainError } from '../lib/errors.ts'
import { getCheckout } from '../wire/checkout.ts'
import type { Operation } from '../wire/operation.ts'
import { completeSca, createPayment, getPayment } from '../wire/payments.ts'
import { bankReturnPage, receiveBankReturn, sendToBank } from './pages/bank-redirects.ts'
import { busyPage } from './pages/busy-page.ts'
import { checkoutPage, submitCheckout } from './pages/checkout-page.ts'
import type { PageReply } from './pages/page.ts'
import { payerLanguage } from './pages/payer-language.ts'
import type { PayerLanguage } from './pages/payer-language.ts'
import { returnPage } from './pages/return-page.ts'
import { redirectToBank } from './pages/redirect-to-bank.ts'
import { rateOf } from './rate-limit.ts'
import type { RateLimits } from './rate-limit.ts'
import { readForm } from './read-form.ts'
import { actsOf, queryOf, sendPage } from './router.ts'
import type { Router, Served } from './router.ts'

type Allowed = (req: IncomingMessage, operation: Operation, show: () => Promise<PageReply>) => Promise<PageReply>

/** The pages of a payment that payers see without the widget, in every mode (decision 64). */
export function addCheckoutPages(
  app: App,
  router: Router,
  { served, rateLimits }: { served: Served; rateLimits: RateLimits },
): void {
  const allowed = makeAllowed(app, rateLimits)
  router.get('/checkout', (req, res) =>
    served(req, res, async () =>
      sendPage(res, await allowed(req, getCheckout, () => checkoutPage(app, queryOf(req), languageOf(req)))),
    ),
  )
  router.post('/checkout', (req, res) =>
    served(req, res, async () => {
      const form = await readForm(req)
      sendPage(res, await allowed(req, createPayment, () => submitCheckout(app, form, languageOf(req, form))))
    }),
  )
  router.get('/go', (req, res) =>
    served(req, res, async () =>
      sendPage(res, await allowed(req, getPayment, () => redirectToBank(app, queryOf(req), languageOf(req)))),
    ),
  )
  router.get('/payments/return', (req, res) =>
    served(req, res, async () =>
      sendPage(res, await allowed(req, getPayment, () => returnPage(app, actsOf(req), languageOf(req)))),
    ),
  )
  addBankPages(app, router, { served, allowed })
}

/** The way to a bank that redirects browsers, and back (decision 266). */
function addBankPages(app: App, router: Router, { served, allowed }: { served: Served; allowed: Allowed }): void {
  router.get('/bank/authorise', (req, res) =>
    served(req, res, async () =>
      sendPage(
        res,
        await allowed(req, getPayment, () =>
          sendToBank(app, { query: queryOf(req), headers: req.headers, language: languageOf(req) }),
        ),
      ),
    ),
  )
  router.get('/bank/return', (req, res) =>
    served(req, res, async () =>
      sendPage(res, await allowed(req, getPayment, async () => bankReturnPage(languageOf(req)))),
    ),
  )
  router.post('/bank/return', (req, res) =>
    served(req, res, async () => {
      const form = await readForm(req)
      sendPage(
        res,
        await allowed(req, completeSca, () =>
          receiveBankReturn(app, { form, headers: req.headers, language: languageOf(req) }),
        ),
      )
    }),
  )
}

/** The language that the address or the form names, otherwise the browser's. */
function languageOf(req: IncomingMessage, values = queryOf(req)): PayerLanguage {
  return payerLanguage(values.get('lang'), req.headers['accept-language'])
}

/** A page has the same rate as the operation that does the same for the widget (decision 66). */
function makeAllowed(app: App, rateLimits: RateLimits): Allowed {
  return async (req, operation, show) => {
    try {
      rateLimits.network(rateOf(operation), clientAddressOf(req, app.config.trustProxy))
    } catch (failure) {
      if (failure instanceof DomainError)
        return busyPage(failure, { isForm: req.method === 'POST', language: languageOf(req) })
      throw failure
    }
    return show()
  }
}
