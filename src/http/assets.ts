import type { IncomingMessage, ServerResponse } from 'node:http'
import type { App } from '../app.ts'
import { drawMark, markIndexOf } from '../lib/bank-mark.ts'
import { makeSendAsset, readPage } from './asset-files.ts'
import type { SendAsset } from './asset-files.ts'
import { appPage, GUIDE_HEADERS, frameRules, missingGuidePage, notBuiltPage, viewerPage } from './pages/widget-page.ts'
import type { AppPage } from './pages/widget-page.ts'
import { payerLanguage } from './pages/payer-language.ts'
import { queryOf, sendPage } from './router.ts'
import type { Router, Served } from './router.ts'
import { sendText, sendUnknown } from './reply.ts'

/** The loader's address never changes, so its content is cached for minutes only, and merchants' pages get a new version soon. */
const LOADER_HEADERS = {
  'cache-control': 'public, max-age=300',
  'cross-origin-resource-policy': 'cross-origin',
  // It has no secrets, and a page that checks it by a hash must be allowed to read it.
  'access-control-allow-origin': '*',
}

/**
 * The widget's own files keep their names. With names derived from the content, an instance that still runs the old version
 * would not have the files of a page from the new one. So browsers check them again after minutes, and get a 304. Parts that
 * load later are named by their content and never change.
 */
const FILE_CACHE = 'public, max-age=300'
const PART_CACHE = 'public, max-age=31536000, immutable'

/** Every file that is served by name. Not the pages, which need their own headers. */
const FILE = /^\/widget\/((?:(?:banks|chunks|docs|reference)\/)?[a-z0-9-]+\.(?:js|css|svg))$/i

/** Files that exist in the sandbox only (decision 64). */
const SANDBOX_FILES = /^demo\./i

/** The Trusted Types policy of the demo, which builds the loader's address (widget/package/load-checkout.ts). */
const DEMO_POLICY = 'svc-checkout'

/** The limits of pages, and of the many files that one page loads. */
type AssetRates = { asPage: Served; asFile: Served }

/** The files for browsers: the checkout's loader, the widget, the payer hub, and in the sandbox the demo. */
export function addAssetRoutes(app: App, router: Router, { asPage: served, asFile }: AssetRates): void {
  const isSandbox = app.config.mode === 'sandbox'
  const sendAsset = makeSendAsset({ isChanging: isSandbox })
  router.get('/v1/checkout.js', (req, res) =>
    served(req, res, () =>
      sendAsset(req, res, { path: 'checkout.js', headers: LOADER_HEADERS, missing: () => sendNotBuilt(res) }),
    ),
  )
  router.get('/widget/index.html', (req, res) =>
    served(req, res, async () => {
      const clientId = queryOf(req).get('client_id') ?? ''
      const rules = await frameRules(app, { clientId, referer: req.headers.referer })
      await sendBuilt(app, res, 'index.html', { ...rules, hasLogos: true })
    }),
  )
  router.get('/hub', (req, res) =>
    served(req, res, () => sendBuilt(app, res, 'hub.html', { ancestors: "'none'", values: hubValues(req) })),
  )
  router.get('/reference', (req, res) => served(req, res, () => sendReference(res)))
  addGuideRoutes(router, served, sendAsset)
  if (isSandbox) {
    router.get('/widget-demo.html', (req, res) =>
      served(req, res, () =>
        sendBuilt(app, res, 'demo.html', { ancestors: "'none'", trusted: DEMO_POLICY, ...twinOf(req) }),
      ),
    )
  }
  router.get('/widget/*', (req, res, next) => {
    const path = FILE.exec((req.url ?? '').split('?')[0] ?? '')?.[1]
    if (path === undefined || (!isSandbox && SANDBOX_FILES.test(path))) return next()
    const missing = (): void => {
      if (!sendMark(app, res, path)) sendUnknown(req, res)
    }
    void asFile(req, res, () => sendAsset(req, res, { ...fileOf(path), missing }))
  })
}

/** The logo or mark of a bank that the build does not know, since its profile names it. False where there is no such bank. */
function sendMark({ catalogue }: App, res: ServerResponse, path: string): boolean {
  const bank = catalogue.byId(/^banks\/(.+)\.svg$/.exec(path)?.[1])
  if (bank === undefined) return false
  const headers = { ...fileOf(path).headers, 'content-type': 'image/svg+xml', 'x-content-type-options': 'nosniff' }
  const { name, id, logo } = bank
  const policy = logo === undefined ? {} : { 'content-security-policy': `default-src 'none'; ${STYLED}sandbox` }
  sendText(res, 200, logo ?? drawMark(name, markIndexOf(id)), { ...headers, ...policy })
  return true
}

const STYLED = "style-src 'unsafe-inline'; "

function fileOf(path: string): { path: string; headers: Record<string, string> } {
  const isImage = path.endsWith('.svg')
  return {
    path,
    headers: {
      'cache-control': path.startsWith('chunks/') ? PART_CACHE : FILE_CACHE,
      // Merchants may show the banks' images; only the checkout's own pages may load code.
      'cross-origin-resource-policy': isImage ? 'cross-origin' : 'same-origin',
      // An image opened directly is a document, which could run scripts. Those of the documentation have styles.
      ...(isImage
        ? { 'content-security-policy': `default-src 'none'; ${path.startsWith('docs/') ? STYLED : ''}sandbox` }
        : {}),
    },
  }
}

async function sendBuilt(app: App, res: ServerResponse, name: string, rest: Omit<AppPage, 'body'>): Promise<void> {
  const body = await readPage(name)
  sendPage(res, body === null ? notBuiltPage() : appPage(app, { body, ...rest }))
}

/** The API reference: its viewer writes styles into the page, and is given neither credentials nor another server. */
async function sendReference(res: ServerResponse): Promise<void> {
  const body = await readPage('reference.html')
  sendPage(res, body === null ? notBuiltPage() : viewerPage(body))
}

/** Names of pages have letters and hyphens only: none leads out of their folder. */
const GUIDE = /^\/docs\/((?:[a-z]+\/)?[a-z]+(?:-[a-z]+)*)$/

/** The documentation (widget/build/guides.ts). */
function addGuideRoutes(router: Router, served: Served, sendAsset: SendAsset): void {
  const send = (req: IncomingMessage, res: ServerResponse, name: string): Promise<void> =>
    served(req, res, () => {
      const missing = (): void => sendPage(res, name === 'index' ? notBuiltPage() : missingGuidePage())
      return sendAsset(req, res, { path: `pages/docs/${name}.html`, headers: GUIDE_HEADERS, missing })
    })
  router.get('/docs', (req, res) => send(req, res, 'index'))
  router.get('/docs/*', (req, res, next) => {
    const name = GUIDE.exec((req.url ?? '').split('?')[0] ?? '')?.[1]
    if (name === undefined) next()
    else void send(req, res, name)
  })
}

/** What the hub's page says before its script runs, and the language that the script continues in. */
function hubValues(req: IncomingMessage): Record<string, string> {
  const { tag: lang, hub } = payerLanguage(queryOf(req).get('lang'), req.headers['accept-language'])
  const { site, needsScript, questions } = hub
  return { lang, site, needsScript, questions }
}

function sendNotBuilt(res: ServerResponse): void {
  const headers = { 'content-type': 'text/plain; charset=utf-8' }
  sendText(res, 503, 'The checkout is not built: run npm run build where the service is installed.\n', headers)
}

/**
 * The demo shows the widget as a shop does, from another origin. Browsers treat the two names of this machine as two
 * origins: the demo under one of them loads the widget under the other.
 */
function twinOf({ headers: { host = '' } }: IncomingMessage): Pick<AppPage, 'frames' | 'scripts'> {
  const [, name, port = ''] = /^(localhost|127\.0\.0\.1)(:\d{1,5})?$/i.exec(host) ?? []
  if (name === undefined) return {}
  const twin = `http://${name.toLowerCase() === 'localhost' ? '127.0.0.1' : 'localhost'}${port}`
  return { frames: twin, scripts: twin }
}
