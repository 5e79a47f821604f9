import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import t from 'tap'
import { BankUnavailableError } from '../../../src/banks/connector.ts'
import type { BankConnector } from '../../../src/banks/connector.ts'
import { bankAuthoriseAddress } from '../../../src/banks/redirects.ts'
import type { ReturnOutcome } from '../../../src/banks/redirects.ts'
import { sha256Hex } from '../../../src/lib/hmac.ts'
import { atBank, createPayment, testService, untilStatus } from '../../support/app.ts'
import { openBrowser, openPage } from '../../support/browser.ts'
import { getPage, postForm } from '../../support/forms.ts'
import { steeredBank } from '../../support/steered-bank.ts'

/** A bank with pages of its own, in front of the mock bank: it believes each answer that comes back in the same browser. */
const steered = steeredBank('remote', 'file', 'own-pages')
const visits: { state: string; browser: string }[] = []
const received: { state: string; browser: string; params: string }[] = []
const staged = new Map<string, string>()
let returns: (() => Promise<ReturnOutcome>) | undefined
let begins: (() => Promise<never>) | undefined

const bankPage = createServer((req, res) => {
  const { searchParams } = new URL(req.url ?? '/', 'http://bank')
  res.writeHead(303, { location: `${service.url}/bank/return#${searchParams}` }).end()
})
await new Promise<void>((resolve) => bankPage.listen(0, '127.0.0.1', resolve))
t.teardown(() => bankPage.close())
const bankUrl = `http://127.0.0.1:${(bankPage.address() as AddressInfo).port}`

const connector: BankConnector = {
  ...steered.connector,
  staging: 'remote',
  stage: async (request, signal) => {
    const consent = await (
      steered.connector.stage as (...all: unknown[]) => Promise<{ bankConsentReference: string; redirectUrl: string }>
    )(request, signal)
    staged.set(request.state, consent.redirectUrl)
    return { ...consent, redirectUrl: bankAuthoriseAddress(service.url, request.state) }
  },
  redirects: {
    begin: async (visit) => {
      if (begins !== undefined) return begins()
      visits.push(visit)
      const { state, ...rest } = await atBank(staged.get(visit.state) ?? '', 'approve')
      return { location: `${bankUrl}/?${new URLSearchParams({ ...rest, state })}` }
    },
    receiveReturn: async ({ state, browser, params }) => {
      received.push({ state, browser, params: params.toString() })
      if (returns !== undefined) return returns()
      if (!visits.some((visit) => visit.state === state && visit.browser === browser))
        return { outcome: 'refused', reason: 'OTHER_BROWSER' }
      return { outcome: 'code', code: params.get('code') ?? '' }
    },
  },
}

const service = await testService(t, {
  worker: true,
  overrides: { configuredBanks: [{ connector, name: 'Own Pages' }] },
})
steered.behind(service.app.mockBank)
const merchant = await service.merchant()
const browser = await openBrowser(t)

t.beforeEach(() => {
  returns = undefined
  begins = undefined
})

async function newPayment(changes: object = {}) {
  const { body } = await createPayment(service, merchant, {
    debtor_bank_id: 'own-pages',
    redirect_uri: `${service.url}/payments/return?basket=7`,
    ...changes,
  })
  const address: string = body.redirect_url
  return { id: String(body.payment_id), address, state: new URL(address).searchParams.get('state') ?? '' }
}

t.test('a payer goes to the bank and comes back with its answer in the fragment', async (t) => {
  const payment = await newPayment()
  t.equal(payment.address, `${service.url}/bank/authorise?state=${payment.state}`)
  const { page, complaints, context } = await openPage(browser)
  await page.goto(payment.address)
  await page.getByRole('heading', { name: 'Paid', exact: true }).waitFor()
  t.match(page.url(), /\/payments\/return\?/)
  t.notMatch(page.url(), /code=/)
  const { params, ...visit } = received.at(-1) ?? { params: '' }
  t.match(params, /^code=[^&]+&state=/)
  t.same(visit, visits.at(-1))
  const [cookie] = await context.cookies(`${service.url}/bank`)
  t.match(cookie, { name: 'svc-bank', path: '/bank', httpOnly: true, sameSite: 'Lax' })
  t.equal(visits.at(-1)?.browser, sha256Hex(cookie?.value ?? ''), 'the bank learns its hash only')
  t.same(complaints, [])
  await page.goBack()
  t.notMatch(page.url(), /#/, 'no address in the history has the answer')
  await untilStatus(service, merchant, payment.id, 'Settled')
})

t.test('an answer in another browser completes nothing', async (t) => {
  const payment = await newPayment()
  const { location } = await getPage(payment.address)
  const { page } = await openPage(browser)
  await page.goto(location ?? '')
  await page.getByText('You began this payment in another browser').waitFor()
  t.match(await service.call('GET', `/api/v1/payments/${payment.id}`, { merchant }), {
    body: { status: 'AwaitingAuthorisation' },
  })
})

t.test("the bank's error goes on to the merchant", async (t) => {
  const payment = await newPayment()
  returns = async () => ({ outcome: 'error', error: 'access_denied' })
  const { html, status } = await postForm(`${service.url}/bank/return`, {
    answer: `error=access_denied&state=${payment.state}`,
  })
  t.equal(status, 200)
  t.match(html, `0;url=${service.url}/payments/return?basket=7&amp;error=access_denied&amp;state=${payment.state}"`)
})

t.test('an answer that breaks a rule is refused with its name, and the payment waits on', async (t) => {
  const payment = await newPayment()
  returns = async () => ({ outcome: 'refused', reason: 'C_HASH_MISMATCH' })
  const answer = await postForm(`${service.url}/bank/return`, { answer: `code=x&state=${payment.state}` })
  t.equal(answer.status, 400)
  t.match(answer.html, /C_HASH_MISMATCH/)
  t.match(await service.call('GET', `/api/v1/payments/${payment.id}`, { merchant }), {
    body: { status: 'AwaitingAuthorisation' },
  })
})

t.test('answers without one known state, and forms of other sites, are refused', async (t) => {
  const payment = await newPayment()
  const before = received.length
  const twice = `code=x&state=${payment.state}&state=${payment.state}`
  for (const answer of ['', 'code=x', 'code=x&state=unknown', twice])
    t.equal((await postForm(`${service.url}/bank/return`, { answer })).status, 404, answer)
  const foreign = await fetch(`${service.url}/bank/return`, {
    method: 'POST',
    headers: { origin: 'https://evil.example' },
    body: new URLSearchParams({ answer: `code=x&state=${payment.state}` }),
  })
  t.equal(foreign.status, 400)
  t.equal(received.length, before, 'the bank is not asked')
})

t.test('a silent bank: the payer can try again, there and back', async (t) => {
  const payment = await newPayment()
  begins = async () => {
    throw new BankUnavailableError('no answer')
  }
  const there = await getPage(payment.address)
  t.equal(there.status, 502)
  t.match(there.html, `href="/bank/authorise?state=${payment.state}"`)
  returns = begins
  const answer = `code=x&state=${payment.state}`
  const back = await postForm(`${service.url}/bank/return`, { answer })
  t.equal(back.status, 502)
  t.match(back.html, `name="answer" value="${answer.replace('&', '&amp;')}"`)
})

t.test(
  'a payment that does not wait goes to its receipt, and one of a bank without pages has no way there',
  async (t) => {
    const payment = await newPayment()
    await service.call('POST', `/api/v1/payments/${payment.id}/cancel`, { merchant })
    t.match(await getPage(payment.address), { status: 303, location: `/payments/return?state=${payment.state}` })
    const { body } = await createPayment(service, merchant)
    const state = new URL(body.redirect_url).searchParams.get('state') ?? ''
    for (const unknown of [state, 'unknown', ''])
      t.equal((await getPage(bankAuthoriseAddress(service.url, unknown))).status, 404)
  },
)

t.test('the return page allows its own script and form only', async (t) => {
  const { headers, html } = await getPage(`${service.url}/bank/return`)
  t.match(
    headers['content-security-policy'],
    /^default-src 'none'; style-src 'sha256-[^']+'; script-src 'sha256-[^']+'; img-src data:; form-action 'self'; base-uri 'none'; frame-ancestors 'none'$/,
  )
  t.equal(headers['cache-control'], 'no-store')
  t.match(html, /<noscript>/)
})
