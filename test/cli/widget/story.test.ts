import t from 'tap'
import { realService } from '../real-service.ts'
import { MAKE, contentOf, tokenOf } from './service.ts'

t.test('the service takes what was made here, and no other', async (t) => {
  const { as, merchant: addMerchant, url } = await realService(t)
  const merchant = await addMerchant()
  const env = { SVC_WEBHOOK_SECRET: merchant.secret }
  const check = (...words: string[]) => as(merchant, ['checkout', ...MAKE, '--check', ...words], { env })
  const taken = await check('-q', 'checkout')
  t.equal(taken.code, 0, taken.stderr)
  t.match(JSON.parse(taken.stdout), { amount: '50.00', mode: 'sandbox', is_fast_path: false, callback_origin: url })
  t.match(await check('--unsigned', '--debtor-account', '00007512345678', '-q', 'checkout.is_fast_path'), {
    code: 0,
    stdout: 'true\n',
  })
  const { stdout } = await as(merchant, ['checkout', ...MAKE], { env })
  const again = (token: string) => as(merchant, ['checkout', 'token', '--decode', '-', '--check'], { stdin: token })
  t.match(await again(stdout), { code: 0, stdout: /50\.00 GBP/ })
  const [, signature = ''] = stdout.trim().split('.')
  const forged = tokenOf({ ...contentOf(stdout), amount: '1.00' })
  t.match(await again(`${forged}.${signature}`), {
    code: 4,
    stdout: '',
    stderr: /checkout token --decode - < token\.txt/,
  })
  t.match(await as(merchant, ['checkout', ...MAKE, '--check', '--expires-in', '0s'], { env }), {
    code: 4,
    stderr: /checkout token --amount/,
  })
  await as(merchant, ['checkout', 'origins', 'add', 'https://shop.example'])
  t.match(await check('--return-url', 'https://shop.example/thanks'), { code: 0 })
  t.match(await check('--return-url', 'https://other.example/thanks'), {
    code: 5,
    stderr: /origins add https:\/\/other\.example\n/,
  })
})
