import type { IncomingMessage } from 'node:http'
import type { App } from '../app.ts'
import { readBody } from './body.ts'
import { harnessPage, submitHarness } from './pages/merchant-harness.ts'
import { makeRedirectStub } from './pages/redirect-stub.ts'
import { receiveWebhook } from './pages/webhook-receiver.ts'
import { sendJson } from './reply.ts'
import { queryOf, sendPage } from './router.ts'
import type { Router, Served } from './router.ts'

/** The pages that stand for the world outside. They exist in the sandbox only (decision 64). */
export function addDevRoutes(app: App, router: Router, served: Served): void {
  const stub = makeRedirectStub({ bank: app.mockBank })
  router.get('/redirect-stub', (req, res) =>
    served(req, res, async () => sendPage(res, await stub.show({ query: queryOf(req) }))),
  )
  router.post('/redirect-stub', (req, res) =>
    served(req, res, async () => sendPage(res, await stub.decide({ query: queryOf(req), form: await readForm(req) }))),
  )
  router.get('/dev/merchant-harness', (req, res) => served(req, res, async () => sendPage(res, harnessPage())))
  router.post('/dev/merchant-harness', (req, res) =>
    served(req, res, async () => sendPage(res, await submitHarness(app, await readForm(req)))),
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

async function readForm(req: IncomingMessage): Promise<URLSearchParams> {
  return new URLSearchParams((await readBody(req)).toString('utf8'))
}
