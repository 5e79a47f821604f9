import type { IncomingMessage, ServerResponse } from 'node:http'
import type { App } from '../app.ts'
import { readPage, sendAsset } from './asset-files.ts'
import { appPage, frameAncestors, notBuiltPage } from './pages/widget-page.ts'
import type { AppPage } from './pages/widget-page.ts'
import { queryOf, sendPage } from './router.ts'
import type { Router, Served } from './router.ts'
import { sendText } from './reply.ts'

/** The loader's address never changes, so what it holds may: merchants' pages get a new one within minutes. */
const LOADER_HEADERS = {
  'cache-control': 'public, max-age=300',
  'cross-origin-resource-policy': 'cross-origin',
  // It is no secret; a page that wants to check it by a hash has to be allowed to read it.
  'access-control-allow-origin': '*',
}

/**
 * The widget's own files keep their names. Were they named by their content, an instance of the service that is still
 * on the old version would not have what the new version's page asks for; so they are asked for again after minutes,
 * and answered with 304. Parts that are loaded late are named by their content and never change.
 */
const FILE_CACHE = 'public, max-age=300'
const PART_CACHE = 'public, max-age=31536000, immutable'

/** Every file that may be asked for by name. Pages are not among them: they are never sent without their headers. */
const FILE = /^\/widget\/((?:(?:banks|chunks)\/)?[a-z0-9-]+\.(?:js|css|svg))$/i

/** What exists in the sandbox only (decision 64). */
const SANDBOX_FILES = /^demo\./i

/** What the demo makes the loader's address with (widget/demo/load-checkout.ts), as a shop's own page need not. */
const DEMO_POLICY = 'checkout-loader'

/** What the browser loads: the checkout's loader, the widget, the payer hub, and in the sandbox the demo. */
export function addAssetRoutes(app: App, router: Router, served: Served): void {
  const isSandbox = app.config.mode === 'sandbox'
  router.get('/v1/checkout.js', (req, res) =>
    served(req, res, async () => {
      sendAsset(req, res, { path: 'checkout.js', headers: LOADER_HEADERS, missing: () => sendNotBuilt(res) })
    }),
  )
  router.get('/widget/index.html', (req, res) =>
    served(req, res, async () => {
      const ancestors = await frameAncestors(app, queryOf(req).get('client_id') ?? '')
      await sendBuilt(app, res, 'index.html', { ancestors, hasLogos: true })
    }),
  )
  router.get('/hub', (req, res) => served(req, res, () => sendBuilt(app, res, 'hub.html', { ancestors: "'none'" })))
  if (isSandbox) {
    router.get('/widget-demo.html', (req, res) =>
      served(req, res, () =>
        sendBuilt(app, res, 'demo.html', { ancestors: "'none'", trusted: DEMO_POLICY, ...twinOf(req) }),
      ),
    )
  }
  router.get('/widget/*', (req, res, next) => {
    const path = FILE.exec((req.url ?? '').split('?')[0] ?? '')?.[1]
    if (path === undefined || (!isSandbox && SANDBOX_FILES.test(path))) next()
    else sendAsset(req, res, { ...fileOf(path), missing: next })
  })
}

function fileOf(path: string): { path: string; headers: Record<string, string> } {
  const isImage = path.endsWith('.svg')
  return {
    path,
    headers: {
      'cache-control': path.startsWith('chunks/') ? PART_CACHE : FILE_CACHE,
      // Merchants may show the banks' images; what is code is for the checkout's own pages.
      'cross-origin-resource-policy': isImage ? 'cross-origin' : 'same-origin',
      // An image that is opened by its own address is a document.
      ...(isImage ? { 'content-security-policy': "default-src 'none'; sandbox" } : {}),
    },
  }
}

async function sendBuilt(app: App, res: ServerResponse, name: string, rest: Omit<AppPage, 'body'>): Promise<void> {
  const body = await readPage(name)
  sendPage(res, body === null ? notBuiltPage() : appPage(app, { body, ...rest }))
}

function sendNotBuilt(res: ServerResponse): void {
  const headers = { 'content-type': 'text/plain; charset=utf-8' }
  sendText(res, 503, 'The checkout is not built: run npm run build where the service is installed.\n', headers)
}

/**
 * The demo shows the widget as a shop does, from another origin. This machine has two names, which browsers take for two
 * origins; the demo under one of them loads the widget under the other.
 */
function twinOf({ headers: { host = '' } }: IncomingMessage): Pick<AppPage, 'frames' | 'scripts'> {
  const [, name, port = ''] = /^(localhost|127\.0\.0\.1)(:\d{1,5})?$/i.exec(host) ?? []
  if (name === undefined) return {}
  const twin = `http://${name.toLowerCase() === 'localhost' ? '127.0.0.1' : 'localhost'}${port}`
  return { frames: twin, scripts: twin }
}
