import t from 'tap'
import { rotateWebhookSecret } from '../../src/signing/rotate-webhook-secret.ts'
import { plainToken, readCheckout, signedToken, startPayment, tokenFields } from '../support/checkout.ts'
import { encodeCheckoutToken } from '../../src/lib/checkout-token.ts'
import { liveService } from '../support/live.ts'
import { passOverlap } from '../support/secrets.ts'
import type { TestMerchant } from '../support/app.ts'

const live = await liveService(t)

async function shop(origins = ['https://shop.example']): Promise<TestMerchant> {
  const merchant = await live.merchant()
  await live.owner.query('update merchants set checkout_origins = $2 where id = $1', [merchant.id, origins])
  return merchant
}

t.test('a signed token pays, without any other credential', async (t) => {
  const merchant = await shop()
  const token = signedToken(live, merchant)
  t.match(await readCheckout(live, token), { status: 200, body: { mode: 'live', merchant_name: 'Acme' } })
  t.match(await startPayment(live, token, { debtor_bank_id: 'mock-albion' }), {
    status: 201,
    body: { status: 'AwaitingAuthorisation', payment_state: /^[\w-]{51}$/ },
  })
  const asked = await startPayment(live, signedToken(live, merchant), { scenario: 'success' })
  t.match(asked, { status: 400, body: { errors: [{ path: 'scenario', code: 'SANDBOX_ONLY' }] } })
})

t.test('a token that its merchant did not sign is rejected without details', async (t) => {
  const merchant = await shop()
  const other = await shop()
  const text = plainToken(live, merchant)
  const [, signature = ''] = signedToken(live, merchant).split('.')
  const stranger = { ...merchant, clientId: 'nobody' }
  const tokens = {
    unsigned: text,
    'with an empty signature': `${text}.`,
    'with a signature of another token': `${text}.${signature}`,
    'signed by another merchant': signedToken(live, { ...merchant, secret: other.secret }),
    'of another merchant, signed by this one': signedToken(live, { ...other, secret: merchant.secret }),
    'of nobody': plainToken(live, stranger),
    'of nobody, signed': signedToken(live, stranger),
    'that has ended as well': plainToken(live, merchant, { exp: 1 }),
    'for a page that is not allowed as well': plainToken(live, merchant, { returnUrl: 'https://evil.example/' }),
  }
  const answers = new Set<string>()
  for (const [name, token] of Object.entries(tokens)) {
    for (const answer of [await readCheckout(live, token), await startPayment(live, token)]) {
      t.match(answer, { status: 401, body: { code: 'CHECKOUT_TOKEN_INVALID' } }, name)
      const { request_id: _, ...body } = answer.body
      answers.add(JSON.stringify(body))
      for (const secret of [merchant.secret, other.secret, signature]) t.notOk(answer.text.includes(secret))
    }
  }
  t.equal(answers.size, 1, [...answers].join('\n'))
})

t.test('the signature covers each field', async (t) => {
  const merchant = await shop(['https://shop.example', 'https://other.example'])
  const fields = tokenFields(live, merchant, {
    payerName: 'Ada',
    debtorAccountScheme: 'UK.OBIE.SortCodeAccountNumber',
    debtorIdentification: '40400612345674',
    remittanceReference: 'Order 4711',
    exp: Math.floor(Date.now() / 1_000) + 3_600,
  })
  const { secret } = merchant
  const token = signedToken(live, merchant, fields)
  t.match(await readCheckout(live, token), { status: 200 })
  const changes: Record<string, unknown> = {
    amount: '0.50',
    currency: 'EUR',
    merchantName: 'Other',
    apiUrl: 'https://pay.example/',
    returnUrl: 'https://other.example/x',
    merchantClientId: (await shop()).clientId,
    callbackOrigin: 'https://other.example',
    payerName: 'Eve',
    debtorAccountScheme: undefined,
    debtorIdentification: '40400612345682',
    remittanceReference: 'Order 1',
    exp: 4_000_000_000,
    jti: 'x',
  }
  t.same(Object.keys(fields).toSorted(), Object.keys(changes).toSorted(), 'all of them')
  const signature = token.split('.')[1] ?? ''
  for (const [field, value] of Object.entries(changes)) {
    const tampered = `${encodeCheckoutToken({ ...fields, [field]: value })}.${signature}`
    const answer = await readCheckout(live, tampered)
    t.match(answer, { status: 401, body: { code: 'CHECKOUT_TOKEN_INVALID' } }, field)
    t.notOk(answer.text.includes(secret) || answer.text.includes(signature))
    t.match(await startPayment(live, tampered), { status: 401 }, field)
  }
})

t.test('both secrets are valid during the overlap of a rotation', async (t) => {
  const merchant = await shop()
  const old = signedToken(live, merchant)
  const { secret } = await rotateWebhookSecret(live.app, {
    merchantId: merchant.id,
    overlapSeconds: 3_600,
    discardCurrent: false,
    actor: { id: 'test', name: 'test', role: 'ADMIN' },
  })
  const fresh = signedToken(live, { ...merchant, secret })
  t.match(await readCheckout(live, old), { status: 200 })
  t.match(await readCheckout(live, fresh), { status: 200 })
  await passOverlap(live, merchant)
  t.match(await readCheckout(live, old), { status: 401, body: { code: 'CHECKOUT_TOKEN_INVALID' } })
  t.match(await readCheckout(live, fresh), { status: 200 })
})

t.test('a merchant without allowed origins has no checkout', async (t) => {
  const merchant = await shop([])
  t.match(await readCheckout(live, signedToken(live, merchant)), {
    status: 403,
    body: {
      code: 'CHECKOUT_ORIGIN_NOT_ALLOWED',
      error: /https:\/\/shop\.example/,
      errors: [{ path: 'callbackOrigin' }, { path: 'returnUrl' }],
      next: /svc checkout origins add https:\/\/shop\.example$/,
    },
  })
})

t.test('a token needs a jti, which is reported only for a signed token', async (t) => {
  const merchant = await shop()
  const unnamed = { jti: undefined }
  for (const send of [readCheckout, startPayment]) {
    t.match(await send(live, signedToken(live, merchant, unnamed)), {
      status: 401,
      body: {
        code: 'CHECKOUT_TOKEN_INVALID',
        errors: [{ path: 'jti', code: 'REQUIRED', message: /distinguishes orders/ }],
      },
    })
    const unsigned = await send(live, plainToken(live, merchant, unnamed))
    t.match(unsigned, { status: 401, body: { code: 'CHECKOUT_TOKEN_INVALID' } })
    t.notMatch(unsigned.text, /jti/)
  }
  const [first, second] = [signedToken(live, merchant), signedToken(live, merchant)]
  for (const token of [first, second])
    t.match(await startPayment(live, token), { status: 201 }, 'two customers, two orders')
})

t.test('a signed token expires at its exp', async (t) => {
  const answer = await readCheckout(live, signedToken(live, await shop(), { exp: 1 }))
  t.match(answer, { status: 401, body: { code: 'CHECKOUT_TOKEN_EXPIRED' } })
})

t.test('a bare client id starts no payment', async (t) => {
  const merchant = await shop()
  const headers = { 'x-merchant-client-id': merchant.clientId, 'x-idempotency-key': 'k' }
  for (const [method, path, body] of [
    ['POST', '/api/v1/payments', { debtor_bank_id: 'mock-albion' }],
    ['GET', '/api/v1/checkout', undefined],
    ['GET', '/api/v1/portal/branding', undefined],
  ] as const) {
    const answer = await live.call(method, path, { headers, body })
    t.match(answer, { status: 401, body: { code: 'UNAUTHENTICATED' } }, path)
  }
})
