import { createHmac } from 'node:crypto'
import t from 'tap'
import { hmacBase64, hmacHex } from '../../src/lib/hmac.ts'
import { signBody, signStandard, verifySignature, webhookHeaders } from '../../src/lib/webhook-signature.ts'

const secret = '4f3c2b1a'.repeat(8)
const body = Buffer.from('{"eventId":"evt_1700000000000_abcdefghijklmnop","data":{"name":"Zoë"}}', 'utf8')

t.test('the signature is HMAC-SHA256, as the published vector of RFC 4231 shows (test case 2)', async (t) => {
  const signature = signBody({ secret: 'Jefe', body: Buffer.from('what do ya want for nothing?') })
  t.equal(signature, '5bdcc146bf60754e6a042426089575c75a003f089d2739839dec58b964ec3843')
})

t.test('the key is the 64 characters of the secret, not the bytes they stand for', async (t) => {
  t.equal(signBody({ secret, body }), createHmac('sha256', Buffer.from(secret, 'utf8')).update(body).digest('hex'))
  for (const other of ['', 'x', 'é'.repeat(40), 'k'.repeat(64), 'k'.repeat(65), 'k'.repeat(200)])
    for (const bytes of [Buffer.alloc(0), body, Buffer.from('ÿ🏦'.repeat(700))]) {
      const hmac = createHmac('sha256', other).update(bytes)
      t.equal(hmacHex(other, bytes), hmac.digest('hex'))
      t.equal(
        hmacBase64(other, 'a.1.', bytes),
        createHmac('sha256', other).update('a.1.').update(bytes).digest('base64'),
      )
    }
  t.not(signBody({ secret, body }), createHmac('sha256', Buffer.from(secret, 'hex')).update(body).digest('hex'))
})

t.test('the standard signature is as in the example of Standard Webhooks', async (t) => {
  // From the standard's own libraries: the secret is the base64 of the key's bytes.
  const key = Buffer.from('MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw', 'base64')
  const signed = 'msg_p5jXN8AQM9LWM0D4loKWxJek.1614265330.{"test": 2432232314}'
  const expected = 'v1,g0hM9SsE+OTPJTGt/tmIKtSyZlE3uFJELVlNIOLJ1OE='
  t.equal(`v1,${createHmac('sha256', key).update(signed).digest('base64')}`, expected, 'the vector itself')
  const ours = signStandard({ secret, body, id: 'evt_1', timestamp: 1_614_265_330 })
  const content = Buffer.concat([Buffer.from('evt_1.1614265330.'), body])
  t.equal(ours, `v1,${createHmac('sha256', secret).update(content).digest('base64')}`)
})

t.test('a signature is verified over the exact bytes', async (t) => {
  const signature = signBody({ secret, body })
  t.match(signature, /^[0-9a-f]{64}$/)
  t.equal(verifySignature({ secret, body, signature }), true)
  t.equal(
    verifySignature({ secret, body: Buffer.from(JSON.stringify(JSON.parse(body.toString()), null, 1)), signature }),
    false,
    're-serialised',
  )
  t.equal(verifySignature({ secret: secret.replace('4', '5'), body, signature }), false, 'another secret')
  for (const wrong of ['', signature.slice(1), `${signature}0`, signature.toUpperCase(), 'undefined']) {
    t.equal(verifySignature({ secret, body, signature: wrong }), false, `"${wrong.slice(0, 8)}.."`)
  }
})

t.test('an attempt carries both signatures, the event id and the time in seconds', async (t) => {
  const headers = webhookHeaders({ eventId: 'evt_1', body, secret, previousSecret: null, now: 1_614_265_330_999 })
  t.strictSame(headers, {
    'content-type': 'application/json',
    'user-agent': 'svc-webhooks/1',
    'X-Service-Signature': signBody({ secret, body }),
    'webhook-id': 'evt_1',
    'webhook-timestamp': '1614265330',
    'webhook-signature': signStandard({ secret, body, id: 'evt_1', timestamp: 1_614_265_330 }),
  })
})

t.test('during an overlap an attempt also carries the signatures of the previous secret', async (t) => {
  const previousSecret = '0123456789abcdef'.repeat(4)
  const headers = webhookHeaders({ eventId: 'evt_1', body, secret, previousSecret, now: 1_614_265_330_999 })
  const standard = (each: string) => signStandard({ secret: each, body, id: 'evt_1', timestamp: 1_614_265_330 })
  t.equal(headers['X-Service-Signature'], signBody({ secret, body }), 'the one of the newest secret stays where it is')
  t.equal(headers['X-Service-Signature-Previous'], signBody({ secret: previousSecret, body }))
  t.equal(headers['webhook-signature'], `${standard(secret)} ${standard(previousSecret)}`)
})
