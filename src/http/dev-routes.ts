import type { IncomingMessage, ServerResponse } from 'node:http'
import type { App } from '../app.ts'
import { readBody } from './body.ts'
import { harnessPage, submitHarness } from './pages/merchant-harness.ts'
import type { PageReply } from './pages/page.ts'
import { makeRedirectStub } from './pages/redirect-stub.ts'
import { receiveWebhook } from './pages/webhook-receiver.ts'
import { sendJson } from './reply.ts'
import type { Router } from './server.ts'

type Caught = (req: IncomingMessage, res: ServerResponse, run: () => Promise<void>) => Promise<void>

/** The pages that stand for the world outside. They exist in the sandbox only (decision 64). */
export function addDevRoutes(app: App, router: Router, caught: Caught): void {
  const stub = makeRedirectStub({ bank: app.mockBank })
  router.get('/redirect-stub', (req, res) =>
    caught(req, res, async () => sendPage(res, stub.show({ query: queryOf(req) }))),
  )
  router.post('/redirect-stub', (req, res) =>
    caught(req, res, async () => sendPage(res, await stub.decide({ query: queryOf(req), form: await readForm(req) }))),
  )
  router.get('/dev/merchant-harness', (req, res) => caught(req, res, async () => sendPage(res, harnessPage())))
  router.post('/dev/merchant-harness', (req, res) =>
    caught(req, res, async () => sendPage(res, await submitHarness(app, await readForm(req)))),
  )
  router.post('/dev/webhook-receiver/:merchantId', (req, res) =>
    caught(req, res, async () => {
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

export function sendPage(res: ServerResponse, { status, headers, body }: PageReply): void {
  res.writeHead(status, headers).end(body)
}

/** The query as it was written: polka's own would lose repeated names. */
export function queryOf(req: IncomingMessage): URLSearchParams {
  return new URLSearchParams((req.url ?? '').split('?').slice(1).join('?'))
}

async function readForm(req: IncomingMessage): Promise<URLSearchParams> {
  return new URLSearchParams((await readBody(req)).toString('utf8'))
}
