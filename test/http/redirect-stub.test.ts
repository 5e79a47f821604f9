import { createHash } from 'node:crypto'
import { createServer } from 'node:http'
import { text } from 'node:stream/consumers'
import t from 'tap'
import { request } from 'undici'
import type { ConsentRequest } from '../../src/banks/connector.ts'
import { sealRequest } from '../../src/banks/mock-request.ts'
import { freePort } from '../support/free-port.ts'
import { makeRedirectStub } from '../../src/http/pages/redirect-stub.ts'
import { addCustomer, balanceOf } from '../support/customers.ts'
import { books, BANK_SECRET, consentRequest, executionOf, patience, stage, testMockBank } from '../support/mock-bank.ts'

const port = await freePort()
const origin = `http://127.0.0.1:${port}`
const { bank, pool, owner } = await testMockBank(t, { publicUrl: origin })
const stub = makeRedirectStub({ bank, areCapsEnforced: true })

const server = createServer((req, res) => {
  void text(req).then(async (body) => {
    const { searchParams: query } = new URL(req.url ?? '', origin)
    const reply =
      req.method === 'POST' ? await stub.decide({ query, form: new URLSearchParams(body) }) : await stub.show({ query })
    res.writeHead(reply.status, reply.headers).end(reply.body)
  })
})
await new Promise<void>((resolve) => server.listen(port, '127.0.0.1', resolve))
t.teardown(() => server.close())

type Answer = { status: number; headers: Record<string, string | string[] | undefined>; body: string }

async function get(url: URL): Promise<Answer> {
  const reply = await request(url)
  return { status: reply.statusCode, headers: reply.headers, body: await reply.body.text() }
}

async function post(url: URL | string, form: Record<string, string> | [string, string][]): Promise<Answer> {
  const reply = await request(url, { method: 'POST', body: new URLSearchParams(form).toString() })
  return { status: reply.statusCode, headers: reply.headers, body: await reply.body.text() }
}

function location(answer: Answer): URL {
  return new URL(String(answer.headers['location']))
}

/** The same address with other parameters; `null` takes one away. */
function altered(url: URL, parameters: Record<string, string | null>): URL {
  const copy = new URL(url)
  for (const [name, value] of Object.entries(parameters)) {
    if (value === null) copy.searchParams.delete(name)
    else copy.searchParams.set(name, value)
  }
  return copy
}

const signedOf = (url: URL): string => url.searchParams.get('request') ?? ''

t.test('the page shows payee, amount and reference, and works without a script', async (t) => {
  const consent = consentRequest({ amount: '1234.5000', payeeName: 'Corner Shop', debtorBankId: 'mock-north' })
  const page = await get(stage(bank, consent))
  t.equal(page.status, 200)
  t.match(page.headers, {
    'content-type': 'text/html; charset=utf-8',
    'cache-control': 'no-store',
    'referrer-policy': 'no-referrer',
  })
  for (const shown of [
    'Corner Shop',
    '£1,234.50',
    consent.endToEndId,
    'mock-north',
    'value="approve"',
    'value="cancel"',
    '<html lang="en">',
  ]) {
    t.ok(page.body.includes(shown), shown)
  }
  t.notMatch(page.body, /<script|javascript:|\son\w+=/i)
})

t.test(
  'the payer chooses among the accounts of the payment’s currency, and an account elsewhere comes first',
  async (t) => {
    const none = await get(stage(bank, consentRequest()))
    t.notMatch(none.body, /<select|Pay from/, 'where the bank has no accounts there is nothing to choose')
    const { account, accounts } = await addCustomer(
      { owner },
      {
        name: '<b>"Ada" & Co',
        accounts: [{}, { currency: 'EUR' }, { status: 'Blocked' }, { balance: 0n, overdraft: 1n }],
      },
    )
    await owner.query(`select book_transfer(gen_random_uuid(), $1, null, 1, 'GBP', null, null, null)`, [
      accounts[3]?.id,
    ])
    const consent = consentRequest()
    const url = stage(bank, consent)
    const { body } = await get(url)
    t.match(
      body,
      /<label for="account">Pay from<\/label>\n<select id="account" name="account">\n<option value="">An account at another bank<\/option>/,
    )
    const offered = [...body.matchAll(/<option value="([^"]+)">([^<]*)<\/option>/g)].map(([, id, text]) => [id, text])
    const shown = (index: number) => [
      accounts[index]?.id,
      `&lt;b&gt;&quot;Ada&quot; &amp; Co, ending ${accounts[index]?.number.slice(-4)}`,
    ]
    t.same(offered.toSorted(), [shown(0), shown(3)].toSorted(), 'of them only those that can pay')
    t.notOk(body.includes(account.number), 'no number is shown in full')
    t.notMatch(body, /1000\.00|-0\.01/, 'nor what is on an account')
    t.equal((await post(url, { decision: 'approve', account: account.id })).status, 303)
    t.match(await bank.execute(executionOf(consent), patience()), { outcome: 'executed' })
    t.equal(await balanceOf({ owner }, account.id), 95_000n)
  },
)

t.test('an account that the payment names is on the page, without a choice', async (t) => {
  const { account } = await addCustomer({ owner }, { name: 'Grace Payer' })
  const debtorAccount = { scheme: 'UK.OBIE.SortCodeAccountNumber', identification: account.number } as const
  const consent = consentRequest({ debtorAccount })
  const page = await get(stage(bank, consent))
  t.match(page.body, `<dt>From</dt><dd>your account ending ${account.number.slice(-4)}</dd>`)
  t.notMatch(page.body, /Grace|1000\.00/, 'who has the link learns neither whose it is nor what is on it')
  t.notMatch(page.body, /<select/)
  t.notOk(page.body.includes(account.number))
  t.equal((await post(stage(bank, consent), { decision: 'approve', account: '' })).status, 303)
  await bank.execute(executionOf(consent), patience())
  t.equal(await balanceOf({ owner }, account.id), 95_000n)
})

t.test('a named account that can’t pay is shown before the payer decides, with the failure code', async (t) => {
  const { accounts } = await addCustomer(
    { owner },
    { accounts: [{ currency: 'EUR' }, { status: 'Blocked' }, { status: 'Closed' }, {}] },
  )
  const [euro, blocked, closed, good] = accounts.map(({ number }) => number)
  for (const [identification, problem] of [
    [euro, 'it is in EUR, and the payment in GBP. Approve it, and it fails with INVALID_DEBTOR_ACCOUNT'],
    [blocked, 'it is blocked. Approve it, and it fails with ACCOUNT_BLOCKED'],
    [closed, 'it is closed. Approve it, and it fails with ACCOUNT_CLOSED'],
    ['00007599999999', 'this bank has no such account. Approve it, and it fails with INVALID_DEBTOR_ACCOUNT'],
    [good, undefined],
    ['20000055779911', undefined],
  ] as const) {
    if (identification === undefined) throw new Error('no such account')
    const consent = consentRequest({ debtorAccount: { scheme: 'UK.OBIE.SortCodeAccountNumber', identification } })
    const url = stage(bank, consent)
    const { body } = await get(url)
    t.equal(/can't pay: ([^<]*)\.<\/p>/.exec(body)?.[1], problem, problem ?? 'nothing is wrong with it')
    t.equal((await post(url, { decision: 'approve' })).status, 303)
    const outcome = await bank.execute(executionOf(consent), patience())
    t.equal('failureCode' in outcome ? outcome.failureCode : undefined, problem?.split(' ').at(-1), 'and so it does')
  }
})

t.test('the accounts are listed by the names of their holders, the demo customer’s first', async (t) => {
  for (const name of ['zoe', 'Abel', 'Grace Demo', 'Mia']) await addCustomer({ owner }, { name, accounts: [{}] })
  await owner.query(`update customers set external_customer_id = 'customer-demo' where name = 'Grace Demo'`)
  const { body } = await get(stage(bank, consentRequest()))
  const [first, ...others] = [...body.matchAll(/<option value="[^"]+">([^<]*), ending/g)].map(([, name = '']) => name)
  t.equal(first, 'Grace Demo')
  t.same(
    others.map((name) => name.toLowerCase()),
    others.map((name) => name.toLowerCase()).toSorted(),
  )
  t.ok(others.includes('zoe') && others.includes('Abel'))
})

t.test('an account that can’t pay is answered with a page that says why, and the choice stays open', async (t) => {
  const { accounts } = await addCustomer({ owner }, { accounts: [{ currency: 'EUR' }, {}] })
  const url = stage(bank, consentRequest())
  const refused = await post(url, { decision: 'approve', account: accounts[0]?.number ?? '' })
  t.match(refused, { status: 400, headers: { location: undefined } })
  t.match(refused.body, /This account can't pay/)
  t.match(refused.body, /it is in EUR, and the payment in GBP/)
  t.notOk(refused.body.includes(accounts[0]?.number ?? ''))
  t.equal(refused.headers['x-problem'], 'it is in EUR, and the payment in GBP', 'a program reads the one rule too')
  const unknown = await post(url, { decision: 'approve', account: '<script>' })
  t.match(unknown, { status: 400, body: /this bank has no such account/ })
  t.notMatch(unknown.body, /<script/)
  t.equal(unknown.headers['x-problem'], 'this bank has no such account')
  const two: [string, string][] = [
    ['decision', 'approve'],
    ['account', accounts[1]?.id ?? ''],
    ['account', ''],
  ]
  t.equal((await post(url, two)).status, 400)
  t.equal((await post(url, { decision: 'cancel', account: 'whatever' })).status, 303, 'who cancels needs no account')
})

t.test('a mandate is shown with its terms, and a payment without one shows none', async (t) => {
  const mandate: ConsentRequest['mandate'] = {
    maxAmountPerPayment: '75.5000',
    limits: [
      { period: 'MONTH', alignment: 'CALENDAR', maxAmount: '150.0000' },
      { period: 'HALF_YEAR', alignment: 'CONSENT', maxAmount: '400.0000' },
    ],
    validTo: '2099-06-30T12:00:00.000Z',
  }
  const { body } = await get(stage(bank, consentRequest({ mandate, payeeName: 'Gym & <b>' })))
  t.match(body, /Gym &amp; &lt;b&gt; may take further payments from your account/)
  t.match(body, /<dt>At most, each payment<\/dt><dd>£75\.50<\/dd>/)
  t.match(body, /<dt>At most, each month<\/dt><dd>£150\.00<\/dd>/)
  t.match(body, /<dt>At most, each half-year, counted from today<\/dt><dd>£400\.00<\/dd>/)
  t.notMatch(body, /does not check/)
  const careless = makeRedirectStub({ bank, areCapsEnforced: false })
  const { searchParams: query } = stage(bank, consentRequest({ mandate }))
  t.match((await careless.show({ query })).body, /At present the payment service does not check them/)
  const { searchParams: single } = stage(bank, consentRequest())
  t.notMatch((await careless.show({ query: single })).body, /does not check/)
  t.match(body, /<dt>Until<\/dt><dd><time datetime="2099-06-30T12:00:00\.000Z">30 June 2099<\/time><\/dd>/)
  t.notMatch((await get(stage(bank, consentRequest()))).body, /further payments|Until/)
})

t.test('a bank of the catalogue is shown by its name', async (t) => {
  const { body } = await get(stage(bank, consentRequest({ debtorBankId: 'mock-severn' })))
  t.match(body, '<dt>Your bank</dt><dd>Severn &amp; Wye</dd>')
})

t.test('with sca=full the page leads on, and a program may still decide', async (t) => {
  const url = altered(stage(bank, consentRequest()), { sca: 'full' })
  const led = await get(url)
  t.equal(led.status, 303)
  t.equal(led.headers['location'], `/dev/mock-bank-sca${url.search}`)
  t.equal((await post(url, { decision: 'approve' })).status, 303)
  t.equal((await get(altered(url, { sca: 'short' }))).status, 200)
})

t.test('the policy allows the style sheet and the return address, and nothing else', async (t) => {
  const page = await get(stage(bank, consentRequest({ redirectUri: 'https://shop.example:8443/return?order=1' })))
  t.match(
    page.headers['content-security-policy'],
    /^default-src 'none'; style-src 'sha256-[\w+/]+='; img-src data:; form-action 'self' https:\/\/shop\.example:8443; base-uri 'none'; frame-ancestors 'none'$/,
  )
})

t.test('the style sheet is the one that the policy allows, also on error pages', async (t) => {
  for (const page of [await get(stage(bank, consentRequest())), await get(new URL(`${origin}/redirect-stub`))]) {
    const style = /<style>([^]*)<\/style>/.exec(page.body)?.[1] ?? ''
    const hash = createHash('sha256').update(style).digest('base64')
    t.ok(String(page.headers['content-security-policy']).includes(`style-src 'sha256-${hash}'`))
  }
})

t.test('approving sends the payer back with a code that the bank knows', async (t) => {
  const consent = consentRequest()
  const url = stage(bank, consent)
  const answer = await post(new URL('/redirect-stub', origin), { request: signedOf(url), decision: 'approve' })
  t.equal(answer.status, 303)
  const back = location(answer)
  t.equal(`${back.origin}${back.pathname}`, 'https://shop.example/return')
  t.equal(back.searchParams.get('state'), consent.state)
  const code = back.searchParams.get('code') ?? ''
  t.match(await bank.exchangeCode({ state: consent.state, code }, patience()), { outcome: 'authorised' })
  t.match(await bank.execute(executionOf(consent), patience()), { outcome: 'executed' })
  t.same((await books(pool, consent.endToEndId)).debits, ['50.0000 GBP'])
})

t.test('cancelling sends the payer back with access_denied and no code', async (t) => {
  const consent = consentRequest()
  const back = location(await post(stage(bank, consent), { decision: 'cancel' }))
  t.same(Object.fromEntries(back.searchParams), { error: 'access_denied', state: consent.state })
})

t.test('a program may post its decision to the redirect URL as it is', async (t) => {
  t.ok(location(await post(stage(bank, consentRequest()), { decision: 'approve' })).searchParams.get('code'))
})

t.test('payer-cancels: even an approval comes back as access_denied', async (t) => {
  const back = location(await post(stage(bank, consentRequest({ scenario: 'payer-cancels' })), { decision: 'approve' }))
  t.equal(back.searchParams.get('error'), 'access_denied')
  t.notOk(back.searchParams.has('code'))
})

t.test('never-returns: the page says so and does not redirect, with either button', async (t) => {
  for (const decision of ['approve', 'cancel']) {
    const answer = await post(stage(bank, consentRequest({ scenario: 'never-returns' })), { decision })
    t.equal(answer.status, 200)
    t.equal(answer.headers['location'], undefined)
    t.match(answer.body, /not sent back/)
  }
})

t.test('pressing again, on either button, gives the first answer again', async (t) => {
  const url = stage(bank, consentRequest())
  const first = await post(url, { decision: 'approve' })
  const presses = ['approve', 'cancel', 'approve'].map((decision) => post(url, { decision }))
  for (const press of await Promise.all(presses)) t.equal(press.headers['location'], first.headers['location'])
})

t.test('the query of the return address is kept', async (t) => {
  const redirectUri = 'https://shop.example/return?order=a%20b&x=1#part'
  const answer = await post(stage(bank, consentRequest({ redirectUri })), { decision: 'approve' })
  t.match(
    answer.headers['location'],
    /^https:\/\/shop\.example\/return\?order=a%20b&x=1&code=[\w-]+&state=[\w-]+#part$/,
  )
})

const HOSTILE = [
  '<script>alert(1)</script>',
  '"><img src=x onerror=alert(1)>',
  '\'"&<>',
  '</title><script>alert(1)</script>',
  '&lt;b&gt;',
  'javascript:alert(1)',
  '${alert(1)}',
  '</style><svg onload=alert(1)>',
  '\u202Eevil',
  'Zoë & Søn <b>',
]

t.test('hostile payee names are text, on every page', async (t) => {
  for (const payeeName of HOSTILE) {
    const pages = [
      await get(stage(bank, consentRequest({ payeeName }))),
      await post(stage(bank, consentRequest({ payeeName, scenario: 'never-returns' })), { decision: 'approve' }),
    ]
    for (const { status, body } of pages) {
      t.equal(status, 200)
      t.notMatch(body, /<script|<img|<svg|<b>/i, payeeName)
      const escaped = payeeName
        .replaceAll('&', '&amp;')
        .replaceAll('<', '&lt;')
        .replaceAll('>', '&gt;')
        .replaceAll('"', '&quot;')
        .replaceAll("'", '&#39;')
      t.ok(body.includes(escaped), 'it is shown as it is')
    }
  }
})

/** Changes one byte of the request. */
function tampered(url: URL, at: number): string {
  const bytes = Buffer.from(signedOf(url), 'base64url')
  bytes.writeUInt8((bytes.at(at) ?? 0) ^ 1, at < 0 ? bytes.length + at : at)
  return bytes.toString('base64url')
}

t.test('a changed request is rejected by the page and by the form, and nothing is recorded', async (t) => {
  const consent = consentRequest()
  const url = stage(bank, consent)
  const requests = [
    ...[0, 11, 12, 40, 200, -17, -16, -1].map((at) => tampered(url, at)),
    Buffer.from(JSON.stringify(bank.readRequest(signedOf(url)))).toString('base64url'),
    signedOf(url).slice(0, -1),
    `${signedOf(url)}0`,
    `${signedOf(url)}.x`,
    signedOf(url).slice(0, 30),
    '',
    '.',
    'x.y',
  ]
  for (const changed of requests) {
    t.equal((await get(altered(url, { request: changed }))).status, 400)
    t.equal((await post(altered(url, { request: changed }), { decision: 'approve' })).status, 400)
    t.equal((await post(`${origin}/redirect-stub`, { request: changed, decision: 'approve' })).status, 400)
  }
  t.match(
    await post(url, { decision: 'cancel' }),
    { status: 303 },
    'the genuine one still waits for its first decision',
  )
})

t.test('a request with another signer is rejected', async (t) => {
  const url = stage(bank, consentRequest())
  const request = bank.readRequest(signedOf(url))
  if (!request) throw new Error('not readable')
  t.equal((await get(altered(url, { request: sealRequest(BANK_SECRET, request) }))).status, 200)
  t.equal((await get(altered(url, { request: sealRequest('another key', request) }))).status, 400)
})

t.test('no open redirect: an address that differs from the signed request is rejected', async (t) => {
  const url = stage(bank, consentRequest())
  const other = stage(bank, consentRequest())
  const wrong = [
    altered(url, { redirect_uri: 'https://evil.example/' }),
    altered(url, { redirect_uri: 'https://shop.example/return/' }),
    altered(url, { state: other.searchParams.get('state') }),
    altered(url, { consent: other.searchParams.get('consent') }),
    altered(url, { request: null }),
    altered(url, { request: signedOf(other) }),
    new URL(`${url.href}&redirect_uri=${encodeURIComponent('https://evil.example/')}`),
  ]
  for (const address of wrong) {
    t.match(await get(address), { status: 400, headers: { location: undefined } })
    t.match(await post(address, { decision: 'approve' }), { status: 400, headers: { location: undefined } })
  }
  const inForm = { request: signedOf(url), decision: 'approve', redirect_uri: 'https://evil.example/' }
  t.equal((await post(`${origin}/redirect-stub`, inForm)).status, 400)
  t.equal((await post(url, { request: signedOf(other), decision: 'approve' })).status, 400)
})

t.test('an unsafe address is rejected, even if it was signed', async (t) => {
  const targets = [
    'javascript:alert(1)',
    'data:text/html,x',
    'shop',
    '/return',
    'https://a;script-src-elem/',
    'file:///etc/passwd',
  ]
  for (const redirectUri of targets) {
    const url = stage(bank, consentRequest({ redirectUri }))
    t.equal((await get(url)).status, 400, redirectUri)
    t.equal((await post(url, { decision: 'approve' })).status, 400, redirectUri)
  }
})

t.test('a form without exactly one known decision is rejected', async (t) => {
  const url = stage(bank, consentRequest())
  const forms: [string, string][][] = [
    [],
    [['decision', '']],
    [['decision', 'APPROVE']],
    [
      ['decision', 'approve'],
      ['decision', 'cancel'],
    ],
    [['Decision', 'approve']],
  ]
  for (const form of forms) t.equal((await post(url, form)).status, 400)
  const inQuery = altered(url, { decision: 'approve' })
  t.equal((await post(inQuery, {})).status, 400, 'following a link decides nothing')
})

t.test('error pages allow no forms, frames or caches', async (t) => {
  const page = await get(new URL(`${origin}/redirect-stub`))
  t.equal(page.status, 400)
  t.match(page.headers, {
    'cache-control': 'no-store',
    'content-security-policy': /form-action 'none'.*frame-ancestors 'none'/,
  })
})
