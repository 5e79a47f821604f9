// A shop that takes payments: it makes one for an order, sends the payer to the bank, and says how it ended. Node 20 or
// later, no packages. README.md shows how to start it. What has to be right about webhooks is in receiver.mjs.
import './receiver.mjs'
import { randomUUID } from 'node:crypto'
import { createServer } from 'node:http'

const {
  SVC_URL = 'http://127.0.0.1:8080',
  SVC_REALM: realm,
  SVC_CLIENT_ID: clientId,
  SVC_CLIENT_SECRET: secret,
} = process.env
if (!clientId) throw new Error('SVC_CLIENT_ID is not set')
const PORT = Number(process.env.SHOP_PORT || 4000)
const SHOP_URL = process.env.SHOP_URL || `http://localhost:${PORT}`

// The price is the server's: nothing of it comes from the browser.
const ORDER = { amount: '12.50', currency: 'GBP', remittance_reference: 'MARMALADE 1' }

// What a real shop has in its database: the payment of each order.
const payments = new Map()

let token = { text: '', until: 0 }

// Proves the shop: a token of its client, kept until shortly before it expires. A sandbox without an identity provider
// takes the client's name alone.
async function credentials() {
  const service = await json(await fetch(`${SVC_URL}/api/v1/service`))
  if (service.auth_url === null) return { 'x-merchant-client-id': clientId }
  if (Date.now() > token.until) {
    const body = new URLSearchParams({
      grant_type: 'client_credentials',
      client_id: clientId,
      client_secret: secret ?? '',
    })
    const url = `${service.auth_url}/realms/${realm}/protocol/openid-connect/token`
    const { access_token, expires_in } = await json(await fetch(url, { method: 'POST', body }))
    token = { text: access_token, until: Date.now() + (expires_in - 30) * 1000 }
  }
  return { authorization: `Bearer ${token.text}` }
}

async function json(response) {
  const body = await response.json()
  if (response.ok) return body
  throw new Error(`${response.url} answered ${response.status} ${body.code ?? body.error ?? ''}`)
}

// The order's number is the idempotency key: whatever is repeated, the order is paid once.
async function pay(number) {
  const response = await fetch(`${SVC_URL}/api/v1/payments`, {
    method: 'POST',
    headers: { ...(await credentials()), 'content-type': 'application/json', 'x-idempotency-key': number },
    body: JSON.stringify({ ...ORDER, redirect_uri: `${SHOP_URL}/orders/${number}` }),
  })
  const payment = await json(response)
  payments.set(number, payment.payment_id)
  return payment.redirect_url
}

// What the bank sent the payer back with ends the authorisation. A second time, as with a page that is loaded again, it is
// refused, and nothing is lost by that.
async function complete(paymentId, query) {
  const { state, code, error } = Object.fromEntries(query)
  const response = await fetch(`${SVC_URL}/api/v1/payments/${paymentId}/sca-complete`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify(code === undefined ? { state, error } : { state, code }),
  })
  if (response.status >= 500) throw new Error(`${response.url} answered ${response.status}`)
}

async function statusOf(paymentId) {
  return (await json(await fetch(`${SVC_URL}/api/v1/payments/${paymentId}`, { headers: await credentials() }))).status
}

function page(content) {
  return `<!doctype html><html lang="en"><head><meta charset="utf-8"><title>The corner shop</title>
<meta name="viewport" content="width=device-width, initial-scale=1"></head><body><h1>The corner shop</h1>${content}</body></html>`
}

const SHOP = page(
  '<p>One jar of marmalade, 12.50 GBP</p><form method="post" action="/pay"><button>Pay by bank</button></form>',
)

async function answer({ method, url }) {
  const { pathname, searchParams } = new URL(url, SHOP_URL)
  if (method === 'GET' && pathname === '/') return { status: 200, body: SHOP }
  if (method === 'POST' && pathname === '/pay') return { status: 303, location: await pay(randomUUID()) }
  const paymentId = payments.get(pathname.slice('/orders/'.length))
  if (method !== 'GET' || paymentId === undefined) return { status: 404, body: page('<p>There is no such page.</p>') }
  if (searchParams.has('state')) {
    await complete(paymentId, searchParams)
    return { status: 303, location: pathname }
  }
  // A payer who comes back may have paid or not: ask the service, and never trust the address.
  return { status: 200, body: page(`<p>Your payment: ${await statusOf(paymentId)}</p>`) }
}

const HEADERS = {
  'content-type': 'text/html; charset=utf-8',
  'cache-control': 'no-store',
  'content-security-policy': "default-src 'none'; base-uri 'none'; frame-ancestors 'none'",
}

const server = createServer(async (request, response) => {
  const { status, body, location } = await answer(request).catch((error) => {
    console.error(error.message)
    return { status: 502, body: page('<p>Paying does not work just now. Please try again.</p>') }
  })
  response.writeHead(status, location === undefined ? HEADERS : { ...HEADERS, location }).end(body)
})
server.listen(PORT, '127.0.0.1', () => console.error(`the shop is at ${SHOP_URL}`))
