import { randomUUID } from 'node:crypto'
import t from 'tap'
import { encodeCheckoutToken, signCheckoutToken } from '../../src/lib/checkout-token.ts'
import { testService } from '../support/app.ts'
import { plainToken, readCheckout, signedToken, startPayment, tokenFields } from '../support/checkout.ts'
import { passOverlap, rotate } from '../support/secrets.ts'

const service = await testService(t)
const merchant = await service.merchant()
const other = await service.merchant()

/** Every field with another valid value. */
const TAMPERED: [string, string][] = [
  ['amount', '0.50'],
  ['currency', 'EUR'],
  ['merchantName', 'Somebody else'],
  ['apiUrl', `${service.app.publicUrl}/`],
  ['returnUrl', 'https://evil.example/return'],
  ['merchantClientId', other.clientId],
  ['callbackOrigin', 'https://evil.example'],
  ['payerName', 'Mallory'],
  ['debtorAccountScheme', 'UK.OBIE.IBAN'],
  ['debtorIdentification', '40400612345678'],
  ['remittanceReference', 'Order 666'],
]
const FULL = {
  payerName: 'Ada Lovelace',
  debtorAccountScheme: 'UK.OBIE.SortCodeAccountNumber',
  debtorIdentification: '40400612345674',
  remittanceReference: 'Order 4711',
}

t.test('a signature covers every field, also in the sandbox', async (t) => {
  const fields = tokenFields(service, merchant, FULL)
  const token = signCheckoutToken(encodeCheckoutToken(fields), merchant.secret)
  t.match(await readCheckout(service, token), { status: 200, body: { is_fast_path: true, payer_name: 'Ada Lovelace' } })
  const signature = token.slice(token.indexOf('.') + 1)
  for (const [field, value] of [...TAMPERED, ['exp', 4_000_000_000], ['jti', 'another']] as const) {
    const tampered = encodeCheckoutToken({ ...fields, [field]: value })
    t.not(tampered, token.split('.')[0])
    const answer = await readCheckout(service, `${tampered}.${signature}`)
    t.match(answer, { status: 401, body: { code: 'CHECKOUT_TOKEN_INVALID' } }, field)
  }
  const extra = await readCheckout(service, `${encodeCheckoutToken({ ...fields, isPaid: true })}.${signature}`)
  t.match(extra, { status: 401, body: { code: 'CHECKOUT_TOKEN_INVALID', errors: [{ path: 'isPaid' }] } })
})

t.test("only the merchant's complete HMAC is a valid signature", async (t) => {
  const text = plainToken(service, merchant)
  const good = signCheckoutToken(text, merchant.secret).split('.')[1] ?? ''
  const last = good.at(-1) === '0' ? '1' : '0'
  const wrong = [
    '',
    good.slice(0, -1),
    good.slice(0, -1) + last,
    `${good}0`,
    good.toUpperCase(),
    Buffer.from(good, 'hex').toString('base64'),
    '0'.repeat(64),
    `${good}.${good}`,
    signCheckoutToken(text, other.secret).split('.')[1],
    signCheckoutToken(text, '').split('.')[1],
    signCheckoutToken(`${text}.`, merchant.secret).split('.')[1],
    signCheckoutToken(Buffer.from(text, 'base64').toString(), merchant.secret).split('.')[1],
  ]
  for (const signature of wrong) {
    const answer = await readCheckout(service, `${text}.${signature}`)
    t.match(answer, { status: 401, body: { code: 'CHECKOUT_TOKEN_INVALID' } }, `<${signature}>`)
  }
  t.match(await readCheckout(service, `${text}.${good}`), { status: 200 })
})

t.test('both secrets are valid during the overlap of a rotation, the old one not after it', async (t) => {
  const shop = await service.merchant()
  const old = signedToken(service, shop)
  t.match(await readCheckout(service, old), { status: 200 })
  const { body } = await rotate(service, shop)
  const fresh = signedToken(service, { ...shop, secret: body.webhook_signing_secret })
  t.match(await readCheckout(service, old), { status: 200 }, 'the one before')
  t.match(await readCheckout(service, fresh), { status: 200 }, 'the new one')
  await passOverlap(service, shop)
  t.match(await readCheckout(service, old), { status: 401, body: { code: 'CHECKOUT_TOKEN_INVALID' } })
  t.match(await readCheckout(service, fresh), { status: 200 })
})

t.test('all invalid fields are reported at once', async (t) => {
  const cases: [Record<string, unknown>, string[]][] = [
    [{ amount: 50 }, ['amount']],
    [{ amount: '50,00' }, ['amount']],
    [{ amount: '-1.00' }, ['amount']],
    [{ amount: '0.00' }, ['amount']],
    [{ amount: '1.001' }, ['amount']],
    [{ amount: '1e3' }, ['amount']],
    [{ currency: 'gbp' }, ['currency']],
    [{ currency: 'XXX' }, ['currency']],
    [{ merchantName: '' }, ['merchantName']],
    [{ merchantName: 'a\u0000b' }, ['merchantName']],
    [{ merchantClientId: randomUUID() }, ['merchantClientId']],
    [{ payerName: 'x'.repeat(141) }, ['payerName']],
    [{ debtorAccountScheme: 'UK.OBIE.BBAN', debtorIdentification: '1' }, ['debtorAccountScheme']],
    [
      { debtorAccountScheme: 'UK.OBIE.SortCodeAccountNumber', debtorIdentification: '4040061234567' },
      ['debtorIdentification'],
    ],
    [{ remittanceReference: 'x'.repeat(19) }, ['remittanceReference']],
    [{ remittanceReference: 'two\nlines' }, ['remittanceReference']],
    [{ remittanceReference: 'SVC0a1b2c3d4e5f6a7' }, ['remittanceReference']],
    [{ exp: 1.5 }, ['exp']],
    [{ exp: '4000000000' }, ['exp']],
    [{ exp: 1_790_000_000_000 }, ['exp']],
    [{ jti: '' }, ['jti']],
    [
      { amount: 1, currency: '£', returnUrl: 'javascript:alert(1)', more: 1 },
      ['amount', 'currency', 'more', 'returnUrl'],
    ],
  ]
  for (const name of [
    'amount',
    'currency',
    'merchantName',
    'apiUrl',
    'returnUrl',
    'merchantClientId',
    'callbackOrigin',
  ])
    cases.push([{ [name]: undefined }, [name]])
  for (const [changes, paths] of cases) {
    const { status, body } = await readCheckout(service, plainToken(service, merchant, changes))
    t.match({ status, code: body.code }, { status: 401, code: 'CHECKOUT_TOKEN_INVALID' }, JSON.stringify(changes))
    t.same(body.errors?.map((error: { path: string }) => error.path).toSorted(), paths, JSON.stringify(body.errors))
    t.ok(body.next)
  }
})

t.test('text that is not a token is rejected', async (t) => {
  const text = plainToken(service, merchant)
  const json = Buffer.from(text, 'base64').toString()
  const base64 = (bytes: string | Buffer): string => Buffer.from(bytes).toString('base64')
  const junk = [
    ' ',
    '.',
    'null',
    '%%%',
    json,
    encodeURIComponent(json),
    `${text}=`,
    `${text} ${text}`,
    `${text},${text}`,
    `"${text}"`,
    `${text.slice(0, 20)} ${text.slice(20)}`,
    `${text.slice(0, 20)}=${text.slice(20)}`,
    base64(`\uFEFF${json}`),
    base64(Buffer.from([0xff, 0xfe, 0x7b, 0x7d])),
    base64(json.replace('Acme', 'Ac\\ud800me')),
    base64(json.replace('{', '{"__proto__":{"amount":"1.00"},')),
    base64(`${json}${json}`),
    base64(json.slice(0, -1)),
    base64('x'.repeat(4_000)),
    `${text}.a.b`,
  ]
  for (const token of junk) {
    const answer = await readCheckout(service, token)
    t.match(answer, { status: 401, body: { code: 'CHECKOUT_TOKEN_INVALID' } }, token.slice(0, 60))
  }
  for (const value of ['null', '[]', '"text"', '1', 'true', '[{}]']) {
    const answer = await readCheckout(service, base64(value))
    t.match(answer, { status: 401, body: { code: 'CHECKOUT_TOKEN_INVALID', errors: [{ path: '' }] } }, value)
  }
  t.match(await service.call('GET', '/api/v1/checkout'), { status: 401, body: { code: 'UNAUTHENTICATED' } })
})

t.test('a token is at most 4 KiB', async (t) => {
  const long = (length: number) => {
    const returnUrl = 'https://shop.example/return?x='
    const token = (size: number) => plainToken(service, merchant, { returnUrl: returnUrl + 'x'.repeat(size), jti: 'j' })
    return token(length)
  }
  t.match(await readCheckout(service, long(1_900)), { status: 200 })
  const huge = encodeCheckoutToken({ ...tokenFields(service, merchant), merchantName: 'x'.repeat(4_000) })
  const { body } = await readCheckout(service, huge)
  t.match(body, { code: 'CHECKOUT_TOKEN_INVALID', errors: undefined }, 'it is not even read')
})

t.test('base64url is accepted, padded or not', async (t) => {
  // The pound signs and question marks make both + and / necessary.
  const standard = encodeCheckoutToken(tokenFields(service, merchant, { merchantName: '££>>>???~~~ÿÿÿ', jti: 'a??>>' }))
  t.match(standard, /[+/]/)
  const padded = standard.replaceAll('+', '-').replaceAll('/', '_')
  for (const token of [standard, padded, padded.replace(/=+$/, '')])
    t.match(await readCheckout(service, token), { status: 200 }, token)
})

t.test('in the sandbox a token needs no jti', async (t) => {
  t.match(await readCheckout(service, plainToken(service, merchant, { jti: undefined })), { status: 200 })
  t.match(await readCheckout(service, signedToken(service, merchant, { jti: undefined })), { status: 200 })
})

t.test('a token expires at its exp', async (t) => {
  const now = Math.floor(Date.now() / 1_000)
  const ended = await readCheckout(service, plainToken(service, merchant, { exp: now - 1 }))
  t.match(ended, { status: 401, body: { code: 'CHECKOUT_TOKEN_EXPIRED', next: /start again/ } })
  const exp = now + 3_600
  const open = await readCheckout(service, plainToken(service, merchant, { exp }))
  t.match(open, { status: 200, body: { expires_at: new Date(exp * 1_000).toISOString() } })
  t.match(await startPayment(service, plainToken(service, merchant, { exp: now })), {
    status: 401,
    body: { code: 'CHECKOUT_TOKEN_EXPIRED' },
  })
})
