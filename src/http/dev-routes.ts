import type { App } from '../app.ts'
import { makeMockLogin } from '../banks/mock-login.ts'
import { deriveKey } from '../lib/derive-key.ts'
import { readBody } from './body.ts'
import { isOwnForm } from './local-pages.ts'
import { foreignForm, harnessPage, submitHarness } from './pages/merchant-harness.ts'
import { SUCCESS_PATH, merchantSuccess } from './pages/merchant-success.ts'
import { makeMockBankSca } from './pages/mock-bank-sca.ts'
import { makeRedirectStub } from './pages/redirect-stub.ts'
import { receiveWebhook } from './pages/webhook-receiver.ts'
import { readForm } from './read-form.ts'
import { sendJson } from './reply.ts'
import { actsOf, queryOf, sendPage } from './router.ts'
import type { Router, Served } from './router.ts'

/** The pages that simulate banks, shops and receivers. They exist in the sandbox only (decision 64). */
export function addDevRoutes(app: App, router: Router, served: Served): void {
  addBankPages(app, router, served)
  addShopPages(app, router, served)
}

function addBankPages(app: App, router: Router, served: Served): void {
  const areCapsEnforced = app.config.vrpCaps === 'enforce'
  const stub = makeRedirectStub({ bank: app.mockBank, areCapsEnforced })
  const { mockBankLogin: credentials, encryptionKey } = app.config
  // A key of its own, so that no other signature of the bank is valid as a login.
  const key = deriveKey(encryptionKey, 'mock bank login').toString('hex')
  const login = makeMockLogin({ key, pool: app.pool, credentials })
  const sca = makeMockBankSca({ bank: app.mockBank, login, credentials, areCapsEnforced })
  router.get('/redirect-stub', (req, res) =>
    served(req, res, async () => sendPage(res, await stub.show({ query: queryOf(req) }))),
  )
  router.post('/redirect-stub', (req, res) =>
    served(req, res, async () => sendPage(res, await stub.decide({ query: queryOf(req), form: await readForm(req) }))),
  )
  router.get('/dev/mock-bank-sca', (req, res) =>
    served(req, res, async () => sendPage(res, await sca.show({ query: queryOf(req) }))),
  )
  router.post('/dev/mock-bank-sca', (req, res) =>
    served(req, res, async () => sendPage(res, await sca.step({ query: queryOf(req), form: await readForm(req) }))),
  )
}

/**
 * Only the harness needs no credential, so it accepts its form from its own page only. The bank's pages need a request that
 * the bank has signed, and the webhook receiver needs a signature of the merchant's secret.
 */
function addShopPages(app: App, router: Router, served: Served): void {
  router.get('/dev/merchant-harness', (req, res) => served(req, res, async () => sendPage(res, await harnessPage(app))))
  router.post('/dev/merchant-harness', (req, res) =>
    served(req, res, async () => {
      const isOwn = isOwnForm(req.headers, app.publicUrl)
      sendPage(res, isOwn ? await submitHarness(app, await readForm(req)) : foreignForm())
    }),
  )
  router.get(SUCCESS_PATH, (req, res) =>
    served(req, res, async () => sendPage(res, await merchantSuccess(app, actsOf(req)))),
  )
  router.post('/dev/webhook-receiver/:merchantId', (req, res) =>
    served(req, res, async () => {
      const signature = req.headers['x-service-signature']
      const status = await receiveWebhook(app, {
        merchantId: req.params['merchantId'] ?? '',
        signature: typeof signature === 'string' ? signature : undefined,
        rawBody: await readBody(req),
      })
      sendJson(res, status, { received: status === 200 })
    }),
  )
}
