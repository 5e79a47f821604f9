// A shop that takes payments: it makes a token for an order, signs it, and shows the checkout. Node 18 or later, no packages.
//   SVC_URL=http://127.0.0.1:8080 SVC_CLIENT_ID=demo-server SVC_WEBHOOK_SECRET=<your signing secret> PORT=4000 node shop-server.mjs
// In the sandbox it may go without the secret; a live service takes signed tokens only.
import { createHmac, randomUUID } from 'node:crypto'
import { createServer } from 'node:http'

const { SVC_CLIENT_ID = 'demo-server', SVC_WEBHOOK_SECRET: secret } = process.env
const SVC_URL = (process.env.SVC_URL ?? 'http://127.0.0.1:8080').replace(/\/$/, '')
const PORT = process.env.PORT ?? '4000'
const SHOP_URL = process.env.SHOP_URL ?? `http://localhost:${PORT}`
const TOKEN_SECONDS = 30 * 60

// The price is the server's: what the payer could change is not in it.
const ORDER = { amount: '12.50', currency: 'GBP', reference: 'MARMALADE 1' }

// What a real shop has in its database.
const orders = new Map()

function startOrder() {
  const number = randomUUID()
  orders.set(number, ORDER)
  return number
}

// The order's number is the token's `jti`: however many tokens an order has, it is paid once.
// Base64 of JSON, a dot, and the hex HMAC-SHA256 of that base64 text.
function makeToken(number, { amount, currency, reference }) {
  const token = {
    amount,
    currency,
    merchantName: 'The corner shop',
    apiUrl: `${SVC_URL}/api/v1`,
    returnUrl: `${SHOP_URL}/thanks`,
    merchantClientId: SVC_CLIENT_ID,
    callbackOrigin: new URL(SHOP_URL).origin,
    remittanceReference: reference,
    exp: Math.floor(Date.now() / 1000) + TOKEN_SECONDS,
    jti: number,
  }
  const text = Buffer.from(JSON.stringify(token)).toString('base64')
  return secret ? `${text}.${createHmac('sha256', secret).update(text).digest('hex')}` : text
}

function page(title, content) {
  return `<!doctype html><html lang="en"><head><meta charset="utf-8"><title>${title}</title>
<meta name="viewport" content="width=device-width, initial-scale=1"></head><body><h1>${title}</h1>${content}</body></html>`
}

// A token is base64, a dot and hex: nothing in it means anything in HTML.
function shopPage(token) {
  return page(
    'The corner shop',
    `<p>One jar of marmalade</p>
<div id="svc-checkout"></div>
<script async src="${SVC_URL}/v1/checkout.js" data-container-id="svc-checkout" data-checkout-token="${token}"></script>`,
  )
}

const checkout = new URL(SVC_URL).origin
const HEADERS = {
  'content-type': 'text/html; charset=utf-8',
  'cache-control': 'no-store',
  'content-security-policy': `default-src 'none'; script-src ${checkout}; frame-src ${checkout}; base-uri 'none'; form-action 'none'`,
}

const server = createServer((request, response) => {
  const { pathname } = new URL(request.url, SHOP_URL)
  if (pathname === '/') return response.writeHead(303, { location: `/orders/${startOrder()}` }).end()
  const number = pathname.slice('/orders/'.length)
  const order = orders.get(number)
  if (order) return response.writeHead(200, HEADERS).end(shopPage(makeToken(number, order)))
  // A payer who comes here may have paid or not: the signed webhook says so, and this page reads the shop's own records.
  if (pathname === '/thanks')
    return response.writeHead(200, HEADERS).end(page('Thank you', '<p>We have your order.</p>'))
  return response.writeHead(404, HEADERS).end(page('Not found', ''))
})
server.listen(Number(PORT), '127.0.0.1', () => console.log(`The shop is at ${SHOP_URL}`))
