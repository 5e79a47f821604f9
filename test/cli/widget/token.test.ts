import { createHmac } from 'node:crypto'
import { mkdtempSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import t from 'tap'
import { SCRATCH } from '../../support/scratch.ts'
import { MAKE, SECRET, WITH_SECRET, contentOf, service } from './service.ts'

t.test(
  'a token says what the flags say, and for how long; without a secret it is not signed, and that is said',
  async (t) => {
    const { url, run } = await service(t)
    const before = Math.floor(Date.now() / 1_000)
    const { code, stdout, stderr } = await run([...MAKE, '--remittance-reference', 'order 1', '--payer-name', 'Ada'])
    t.equal(code, 0)
    t.match(stdout, /^[\w+/=]+\n$/, 'nothing but the token')
    t.match(stderr, /^Not signed, [^\n]*\nFor pages of http:\/\/127\.0\.0\.1:\d+ alone, the service's own; /)
    const { exp, jti, ...content } = contentOf(stdout)
    t.same(content, {
      amount: '50.00',
      currency: 'GBP',
      merchantName: 'Acme',
      merchantClientId: 'acme-server',
      apiUrl: `${url}/api/v1`,
      returnUrl: `${url}/dev/merchant-success`,
      callbackOrigin: url,
      payerName: 'Ada',
      remittanceReference: 'order 1',
    })
    t.match(jti, /^[\w-]{16}$/)
    t.ok(typeof exp === 'number' && exp >= before + 3_599 && exp <= before + 3_700)
    t.not(contentOf((await run(MAKE)).stdout)['jti'], jti)
  },
)

t.test('what is given is taken: page, account, end and name', async (t) => {
  const { run } = await service(t)
  const page = ['--return-url', 'https://shop.example/thanks', '--merchant-name', 'Acme Shop']
  const token = ['--jti', 'order-1', '--expires-in', '5m', '--unsigned']
  const { stdout, stderr } = await run([...MAKE, ...page, ...token, '--debtor-account', '00-00-75 12345678'])
  t.equal(stderr, '', 'who asks for no signature is told of none')
  t.match(contentOf(stdout), {
    returnUrl: 'https://shop.example/thanks',
    callbackOrigin: 'https://shop.example',
    merchantName: 'Acme Shop',
    jti: 'order-1',
    debtorAccountScheme: 'UK.OBIE.SortCodeAccountNumber',
    debtorIdentification: '00007512345678',
  })
  const iban = await run([...MAKE, '--debtor-account', 'gb33 bukb 2020 1555 5555 55', '-q', 'content'])
  t.match(JSON.parse(iban.stdout), {
    debtorAccountScheme: 'UK.OBIE.IBAN',
    debtorIdentification: 'GB33BUKB20201555555555',
  })
})

t.test('a secret of the environment or of a file signs it, in live mode it has to', async (t) => {
  const { run } = await service(t, 'live')
  const live = [...MAKE, '--return-url', 'https://shop.example/thanks']
  const file = join(mkdtempSync(join(SCRATCH, 'svc-widget-')), 'secret.txt')
  writeFileSync(file, `${SECRET}\n`)
  for (const { stdout, code } of [
    await run(live, { env: WITH_SECRET }),
    await run([...live, '--secret-file', file]),
    await run([...live, '--sign', '--secret-file', '-'], { stdin: SECRET }),
  ]) {
    t.equal(code, 0)
    const [text = '', signature] = stdout.trim().split('.')
    t.equal(signature, createHmac('sha256', SECRET).update(text).digest('hex'))
  }
  t.match(await run(live), {
    code: 2,
    stdout: '',
    stderr: /is live: [^]*Try: --secret-file secret\.txt/,
  })
  t.match(await run([...live, '--unsigned'], { env: WITH_SECRET }), { code: 2, stdout: '', stderr: /is live/ })
  t.match(await run(MAKE, { env: WITH_SECRET }), {
    code: 2,
    stderr: /Try: --return-url https:\/\/shop\.example\/thanks\n$/,
  })
  t.match(await run([...live, '--secret-file', SECRET]), { code: 2, stderr: /^(?![^]*0123456789abcdef)/ })
})

t.test('--sign without a secret is refused in the sandbox too; --sign and --unsigned exclude each other', async (t) => {
  const { run } = await service(t)
  t.match(await run([...MAKE, '--sign']), { code: 2, stdout: '', stderr: /no secret to sign with[^]*--secret-file/ })
  t.match(await run([...MAKE, '--sign', '--unsigned']), { code: 2, stdout: '' })
})

t.test('values that no token can have are refused by the names of their flags', async (t) => {
  const { run } = await service(t)
  t.match(await run(['token', '--currency', 'EUR']), {
    code: 2,
    stderr: /--amount and --currency\nTry: --amount 50\.00 --currency GBP\n$/,
  })
  t.match(await run([...MAKE, '--origin', 'https://shop.example']), { code: 2, stderr: /--callback-origin https/ })
  t.match(await run(['token', '--amount', 'much', '--currency', 'POUND']), {
    code: 2,
    stderr: /2 values are wrong\n {2}--amount: .*\n {2}--currency: /,
  })
  t.match(await run([...MAKE, '--remittance-reference', 'x'.repeat(19)]), {
    code: 2,
    stderr: /--remittance-reference/,
  })
  t.match(await run([...MAKE, '--debtor-account', '12']), { code: 2, stderr: /--debtor-account/ })
  t.match(await run([...MAKE, '--expires-in', 'soon']), { code: 2, stderr: /--expires-in/ })
  t.match(await run([...MAKE, '--return-url', 'nowhere']), { code: 2, stderr: /--return-url/ })
})

t.test('with JSON the token comes with what it says', async (t) => {
  const { run } = await service(t)
  const { stdout, stderr } = await run([...MAKE, '--json'], { env: WITH_SECRET })
  t.equal(stderr, '')
  const made = JSON.parse(stdout)
  t.match(made, { token: /^[^.]+\.[0-9a-f]{64}$/, signed: true, expires_at: /Z$/, content: { amount: '50.00' } })
  t.match(JSON.parse((await run([...MAKE, '--json'])).stdout), { signed: false })
  t.match(await run([...MAKE, '-o', 'id']), { stdout: /^[\w+/=]+\n$/ })
})
