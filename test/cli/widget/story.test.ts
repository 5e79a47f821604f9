import t from 'tap'
import { realService } from '../real-service.ts'
import { MAKE, contentOf, tokenOf } from './service.ts'

t.test('the service takes what was made here, and no other', async (t) => {
  const { as, merchant: addMerchant, url } = await realService(t)
  const merchant = await addMerchant()
  const env = { SVC_WEBHOOK_SECRET: merchant.secret }
  const made = async (...words: string[]) =>
    (await as(merchant, ['checkout', ...MAKE, ...words], { env })).stdout.trim()
  const opened = async (token: string) => {
    const response = await fetch(`${url}/api/v1/checkout`, { headers: { 'x-checkout-token': token } })
    const body: unknown = await response.json()
    return { status: response.status, body }
  }
  const good = await made()
  t.match(await opened(good), {
    status: 200,
    body: { amount: '50.00', mode: 'sandbox', is_fast_path: false, callback_origin: url },
  })
  t.match(await opened(await made('--unsigned', '--debtor-account', '00007512345678')), {
    status: 200,
    body: { is_fast_path: true },
  })
  const [, signature = ''] = good.split('.')
  t.match(await opened(`${tokenOf({ ...contentOf(good), amount: '1.00' })}.${signature}`), { status: 401 })
  t.match(await opened(await made('--expires-in', '0s')), { status: 401 })
  await as(merchant, ['checkout', 'origins', 'add', 'https://shop.example'])
  t.match(await opened(await made('--return-url', 'https://shop.example/thanks')), { status: 200 })
  t.match(await opened(await made('--return-url', 'https://other.example/thanks')), { status: 403 })
})
