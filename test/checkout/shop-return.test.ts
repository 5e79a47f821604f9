import { createHmac } from 'node:crypto'
import t from 'tap'
import { generateMasterKey, makeSealer } from '../../src/lib/seal.ts'
import { webhookSecretContext } from '../../src/signing/secret.ts'
import { atBank, testService, untilStatus } from '../support/app.ts'
import { approve, plainToken, signedToken, startPayment } from '../support/checkout.ts'
import { documentedResult } from '../support/documented-result.ts'
import { getPage } from '../support/forms.ts'
import { completeSca } from '../support/payments.ts'

const service = await testService(t, { worker: true })

type Returned = { text: string; signatures: string[]; result: Record<string, unknown> }

/** The result in the address that the page of a paid order leads on to. */
async function resultOf(state: string): Promise<Returned> {
  const { html } = await getPage(`${service.url}/payments/return?state=${state}`)
  const [, given = ''] = /payment_result=([\w.-]+)"/.exec(html) ?? []
  const [text = '', ...signatures] = given.split('.')
  return { text, signatures, result: JSON.parse(Buffer.from(text, 'base64url').toString('utf8')) }
}

const hmac = (secret: string, text: string): string => createHmac('sha256', secret).update(text).digest('hex')

t.test('the result names order, amount and status, and is signed under its own name', async (t) => {
  const merchant = await service.merchant()
  const token = signedToken(service, merchant, { jti: 'order-42', amount: '12.50' })
  const started = await startPayment(service, token, { same_tab: true })
  await approve(service, started)
  const { body } = started
  await untilStatus(service, merchant, body.payment_id, 'Settled')
  const { text, signatures, result } = await resultOf(body.payment_state)
  t.match(result, {
    payment_id: body.payment_id,
    status: 'Settled',
    order: 'order-42',
    amount: '12.50',
    currency: 'GBP',
  })
  t.ok(Date.parse(String(result['issued_at'])) > Date.now() - 60_000)
  t.same(signatures, [hmac(merchant.secret, `payment_result=${text}`)])
  // Every browser has the token, whose signature must never pass for one of a result.
  const [tokenText = '', tokenSignature] = token.split('.')
  t.not(tokenSignature, hmac(merchant.secret, `payment_result=${tokenText}`))
  t.not(signatures[0], hmac(merchant.secret, text))
})

t.test('during a rotation both secrets sign', async (t) => {
  const merchant = await service.merchant()
  const started = await startPayment(service, plainToken(service, merchant))
  await approve(service, started)
  const rotated = await service.call('POST', '/api/v1/portal/webhook-secret/rotate', { merchant })
  t.equal(rotated.status, 200, JSON.stringify(rotated.body))
  await untilStatus(service, merchant, started.body.payment_id, 'Settled')
  const { text, signatures } = await resultOf(started.body.payment_state)
  t.same(
    signatures,
    [rotated.body.webhook_signing_secret, merchant.secret].map((secret) => hmac(secret, `payment_result=${text}`)),
  )
})

t.test("what the documentation has merchants write takes the service's results of their order alone", async (t) => {
  const { readResult, isPaid } = await documentedResult()
  const merchant = await service.merchant()
  const token = signedToken(service, merchant, { jti: 'order-43', amount: '12.50' })
  const started = await startPayment(service, token, { same_tab: true })
  await approve(service, started)
  await untilStatus(service, merchant, started.body.payment_id, 'Settled')
  const { text, signatures } = await resultOf(started.body.payment_state)
  const [signature = ''] = signatures
  const path = (...parts: string[]): string => `/thanks?${new URLSearchParams({ payment_result: parts.join('.') })}`
  const order = { id: 'order-43', amount: '12.50', currency: 'GBP' }
  const taken = readResult(path(text, signature), merchant.secret)
  t.ok(isPaid(taken, order), 'the path alone, as Node gives it')
  t.same(readResult(`https://shop.example${path(text, signature)}`, merchant.secret), taken)
  t.ok(readResult(path(text, 'f'.repeat(64), signature), merchant.secret), 'one signature of two is enough')
  for (const other of [{ id: 'order-44' }, { amount: '1250.00' }, { currency: 'EUR' }])
    t.notOk(isPaid(taken, { ...order, ...other }), `shown again for an order with ${JSON.stringify(other)}`)
  t.notOk(isPaid({ ...taken, status: 'Authorised' }, order))
  const forged = Buffer.from(JSON.stringify({ ...taken, order: 'order-44' })).toString('base64url')
  const refused = {
    'an edited text': path(forged, signature),
    'a signature of another secret': path(text, hmac('another secret', `payment_result=${text}`)),
    "a token's signature": path(text, hmac(merchant.secret, text)),
    'a signature of 64 characters and more bytes': path(text, `${signature.slice(1)}é`),
    'a signature that is cut off': path(text, signature.slice(1)),
    'no signature': path(text),
    'no result': '/thanks',
  }
  for (const [what, address] of Object.entries(refused)) t.equal(readResult(address, merchant.secret), undefined, what)
  t.notOk(isPaid(undefined, order))
})

t.test("a payer who has paid gets the receipt, and the way back, where the secret can't be opened", async (t) => {
  const errors = t.capture(service.app.log, 'error')
  const merchant = await service.merchant()
  const started = await startPayment(service, plainToken(service, merchant), { same_tab: true })
  await approve(service, started)
  const { payment_id, payment_state } = started.body
  await untilStatus(service, merchant, payment_id, 'Settled')
  const sealed = makeSealer(generateMasterKey()).seal(merchant.secret, webhookSecretContext(merchant.id))
  await service.owner.query('update merchants set webhook_signing_secret = $2 where id = $1', [merchant.id, sealed])
  const { status, html } = await getPage(`${service.url}/payments/return?state=${payment_state}`)
  t.equal(status, 200)
  t.match(html, /<h1>Paid<\/h1>/)
  t.match(html, `href="https://shop.example/return?payment_id=${payment_id}"`)
  t.notMatch(html, 'payment_result')
  const logged = errors().map(({ args }) => args)
  t.match(
    logged.filter(([, text]) => String(text).includes('without a signed result')),
    [[{ err: /sealed under master key/, merchant_id: merchant.id }]],
  )
})

t.test('a payer of a link, who has no shop to go back to, reads where to pay in another way', async (t) => {
  const merchant = await service.merchant()
  const AGAIN = 'Open the link again to pay in another way.'
  const pageOf = async (changes: Record<string, unknown>, decision: 'approve' | 'cancel'): Promise<string> => {
    const { body } = await startPayment(service, plainToken(service, merchant, changes), { same_tab: true })
    await completeSca(service, body.payment_id, await atBank(body.redirect_url, decision))
    return (await getPage(`${service.url}/payments/return?state=${body.payment_state}`)).html
  }
  const link = { returnUrl: `${service.app.publicUrl}/payments/return`, callbackOrigin: service.app.publicUrl }
  const failed = await pageOf(link, 'cancel')
  t.match(failed, /<h1>Not paid<\/h1>/)
  t.match(failed, AGAIN)
  t.notMatch(await pageOf(link, 'approve'), AGAIN)
  t.notMatch(await pageOf({}, 'cancel'), AGAIN, 'a shop is what its payer goes back to')
})
