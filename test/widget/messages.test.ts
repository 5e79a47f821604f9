import t from 'tap'
import { readClaims } from '../../widget/claims.ts'
import { readEvent, readInit } from '../../widget/messages.ts'
import { encodeCheckoutToken } from '../../src/lib/checkout-token.ts'

const cancelled = { transactionId: null, screen: 'ST-02', returnUrl: 'https://shop.example/' }

t.test('an event has its fields and no others', async (t) => {
  t.same(readEvent({ eventType: 'SVC_PAYMENT_CANCELLED', payload: { ...cancelled, token: 'x' }, more: 1 }), {
    eventType: 'SVC_PAYMENT_CANCELLED',
    payload: cancelled,
  })
  t.same(readEvent({ eventType: 'SVC_RESIZE', payload: { height: 400 } })?.payload, { height: 400 })
  for (const payload of [{ errorCode: 'X' }, { errorCode: 'X', message: 'why' }])
    t.same(readEvent({ eventType: 'SVC_PAYMENT_FAILED', payload })?.payload, payload)
})

t.test('anything else is not an event', async (t) => {
  for (const data of [
    undefined,
    null,
    'SVC_RESIZE',
    [],
    {},
    { eventType: 'SVC_RESIZE' },
    { eventType: 'SVC_RESIZE', payload: null },
    { eventType: 'SVC_RESIZE', payload: { height: '400' } },
    { eventType: 'SVC_RESIZE', payload: { height: Number.POSITIVE_INFINITY } },
    { eventType: 'svc_resize', payload: { height: 400 } },
    { eventType: ['SVC_RESIZE'], payload: { height: 400 } },
    { eventType: 'toString', payload: {} },
    { eventType: '__proto__', payload: {} },
    { eventType: 'SVC_PAYMENT_CANCELLED', payload: { ...cancelled, transactionId: 5 } },
    { eventType: 'SVC_PAYMENT_CANCELLED', payload: { ...cancelled, screen: null } },
    { eventType: 'SVC_PAYMENT_FAILED', payload: { errorCode: 'X', message: 5 } },
    { eventType: 'SVC_PAYMENT_SUCCESS', payload: { transactionId: null, endToExternalId: 'e', endToEndId: 'e' } },
  ]) {
    t.equal(readEvent(data), null, JSON.stringify(data))
  }
})

t.test('init is checked by its nonce', async (t) => {
  t.same(readInit({ svc: 'init', nonce: 'n', token: 't', locale: 5, sameTab: 'yes' }, 'n'), {
    svc: 'init',
    nonce: 'n',
    token: 't',
    locale: undefined,
    theme: undefined,
    sameTab: false,
  })
  t.equal(readInit({ svc: 'init', nonce: 'm', token: 't' }, 'n'), null)
  t.equal(readInit({ svc: 'init', nonce: 'n' }, 'n'), null)
})

t.test('a token is read in either base64 alphabet, signed or not, with names in any script', async (t) => {
  const fields = {
    merchantClientId: 'm',
    callbackOrigin: 'https://shop.example',
    returnUrl: 'https://shop.example/',
    merchantName: 'Söhne & 茶 ÿÿ???>>>',
  }
  const text = encodeCheckoutToken(fields)
  t.match(readClaims(text), fields)
  t.match(readClaims(`${text}.abc`), fields)
  t.match(readClaims(Buffer.from(text, 'base64').toString('base64url')), fields)
  for (const bad of ['', '.', 'x', '%%%', 'bnVsbA==', 'W10=', undefined])
    t.equal(readClaims(bad as string), null, String(bad))
})
