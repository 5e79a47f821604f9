import { randomUUID } from 'node:crypto'
import { request } from 'undici'
import t from 'tap'
import { MOCK_BANKS } from '../../../src/banks/catalogue.ts'
import { SCENARIO_NAMES } from '../../../src/banks/scenarios.ts'
import { atBank, testService, untilStatus } from '../../support/app.ts'
import { ensureDemoMerchant } from '../../../src/sandbox/seed-merchant.ts'
import { closedSettlement } from '../../support/payouts.ts'
import { until } from '../../support/until.ts'
import { getPage, postForm } from '../../support/forms.ts'
import type { PageAnswer } from '../../support/forms.ts'

const service = await testService(t, { worker: true })
const merchant = await service.merchant()
const HARNESS = `${service.url}/dev/merchant-harness`

/** What a browser sends of the form as it stands first, changed; an empty text stands for an empty field. */
function submit(changes: Record<string, string> = {}, unticked: readonly string[] = []): Promise<PageAnswer> {
  const fields = {
    amount: '50.00',
    currency: 'GBP',
    client_id: merchant.clientId,
    idempotency_key: '',
    bank: '',
    scenario: '',
    return_to: '/payments/return',
    auto_redirect: 'on',
    max_per_payment: '100.00',
    ...changes,
  }
  return postForm(
    HARNESS,
    Object.entries(fields).filter(([name]) => !unticked.includes(name)),
  )
}

type Made = { id: string; amount: string; redirect_uri: string; bank: string | null; scenario: string | null }

async function madeWith({ location }: Pick<PageAnswer, 'location'>): Promise<Made> {
  const { rows } = await service.owner.query(
    `select p.id, p.amount::text, p.redirect_uri, c.debtor_bank_id as bank, c.sandbox_scenario as scenario, c.consent_type
     from payment_intents p join payment_consents c on c.id = p.consent_id where p.bank_consent_id = $1`,
    [new URL(location ?? '').searchParams.get('state')],
  )
  return rows[0]
}

t.test('the form has every control, each with a label', async (t) => {
  const { status, html } = await getPage(HARNESS)
  t.equal(status, 200)
  for (const name of ['amount', 'currency', 'client_id', 'idempotency_key', 'max_per_payment'])
    t.match(html, new RegExp(`<label>[^<]+ <input name="${name}"`))
  for (const name of ['bank', 'scenario', 'return_to']) t.match(html, new RegExp(`<label>[^<]+ <select name="${name}"`))
  t.match(html, /<input type="checkbox" name="auto_redirect" value="on" checked>/)
  for (const name of ['full_sca', 'mandate'])
    t.ok(html.includes(`<input type="checkbox" name="${name}" value="on">`), name)
  for (const { id } of MOCK_BANKS) t.ok(html.includes(`<option value="${id}">`), id)
  t.equal([...html.matchAll(/<option value="mock-/g)].length, 16)
  t.ok([...html.matchAll(/<option /g)].length >= 16 + SCENARIO_NAMES.length)
  t.match(
    html,
    /<fieldset>\n<legend>Mandate<\/legend>[^]*name="mandate"[^]*name="max_per_payment"[^]*Only used if the box above is ticked[^]*<\/fieldset>/,
  )
  t.notMatch(html, /&lt;duration&gt;|&lt;reason&gt;/, 'every scenario can be chosen as it stands')
})

t.test('a page of another origin creates no payment with it, with any credentials', async (t) => {
  const strict = await testService(t, { env: { SVC_IDENTITY: 'embedded', SVC_PUBLIC_URL: 'https://pay.example' } })
  const shop = await strict.merchant()
  for (const [{ url, owner }, { id, clientId }] of [
    [service, merchant],
    [strict, shop],
  ] as const) {
    const count = async (): Promise<number> =>
      (await owner.query('select from payment_intents where merchant_id = $1', [id])).rowCount ?? 0
    const send = (origin?: string) =>
      request(`${url}/dev/merchant-harness`, {
        method: 'POST',
        headers: {
          'content-type': 'application/x-www-form-urlencoded',
          'x-forwarded-proto': 'https',
          ...(origin === undefined ? {} : { origin }),
        },
        body: new URLSearchParams({ amount: '1.00', currency: 'GBP', client_id: clientId }).toString(),
      })
    const before = await count()
    for (const origin of [
      'https://evil.example',
      'null',
      'http://localhost.evil.example',
      'https://pay.example.evil.example',
    ])
      t.equal((await send(origin)).statusCode, 403, origin)
    t.equal(await count(), before)
    const own = new URL(url === service.url ? service.app.publicUrl : 'https://pay.example').origin
    for (const origin of [own, 'http://localhost:3000', 'http://127.0.0.1', undefined])
      t.equal((await send(origin)).statusCode, 200, `${origin}`)
    t.equal(await count(), before + 4)
  }
})

t.test('it creates the payment as a shop would and goes to the bank', async (t) => {
  const answer = await submit({ amount: '12.34', bank: 'mock-fern', scenario: 'refund-fails' })
  t.equal(answer.status, 303)
  t.match(await madeWith(answer), {
    amount: '12.3400',
    redirect_uri: `${service.url}/payments/return`,
    bank: 'mock-fern',
    scenario: 'refund-fails',
  })
  t.match(await madeWith(await submit()), { bank: null })
})

t.test('the key is repeated as it is typed', async (t) => {
  const idempotency_key = randomUUID()
  const [first, second] = [await submit({ idempotency_key }), await submit({ idempotency_key })]
  t.equal(first.location, second.location)
  t.match(await submit({ idempotency_key, amount: '9.99' }), { status: 400, html: /role="alert"/ })
})

t.test("a bank's own scenario is the default", async (t) => {
  const answer = await submit({ bank: 'mock-empty' })
  const { id } = await madeWith(answer)
  const back = await atBank(answer.location ?? '', 'approve')
  await getPage(`${service.url}/payments/return?${new URLSearchParams(back)}`)
  t.equal((await untilStatus(service, merchant, id, 'Failed')).failure.code, 'INSUFFICIENT_FUNDS')
})

t.test('with the full login it redirects to the page that asks for one', async (t) => {
  const { location } = await submit({ full_sca: 'on' })
  t.equal(new URL(location ?? '').searchParams.get('sca'), 'full')
  const led = await getPage(location ?? '')
  t.match(led.location, /^\/dev\/mock-bank-sca\?/)
  t.match(await getPage(service.url + led.location), { status: 200, html: /<h1>Sign in to pay Acme/ })
})

t.test('without an immediate redirect it shows the payment and the link to its bank', async (t) => {
  const { status, html } = await submit({ full_sca: 'on' }, ['auto_redirect'])
  t.equal(status, 200)
  t.match(html, /<dt>Status<\/dt><dd>AwaitingAuthorisation<\/dd>/)
  t.match(html, /<dt>Net<\/dt><dd>49\.30 GBP<\/dd>/)
  t.match(html, /<a class="next" href="[^"]+&amp;sca=full">Go to the bank<\/a>/)
})

t.test('a mandate is set up with its first payment', async (t) => {
  const { status, location } = await submit({ mandate: 'on', max_per_payment: '75.00' })
  t.equal(status, 303)
  t.match(await madeWith({ location }), { consent_type: 'VARIABLE_RECURRING' })
  t.match((await getPage(location ?? '')).html, /<dt>At most, each payment<\/dt><dd>£75\.00<\/dd>/)
  t.match(await submit({ mandate: 'on', max_per_payment: 'much' }), { status: 400, html: /max_amount_per_payment/ })
})

t.test('on return to the shop the payment is completed, and the payer thanked', async (t) => {
  const answer = await submit({ return_to: '/dev/merchant-success' })
  const { id } = await madeWith(answer)
  const back = await atBank(answer.location ?? '', 'approve')
  const first = await getPage(`${service.url}/dev/merchant-success?${new URLSearchParams(back)}`)
  t.match(first, { status: 303, location: `/dev/merchant-success?state=${back.state}` }, 'the code leaves the address')
  await untilStatus(service, merchant, id, 'Settled')
  const thanks = await getPage(service.url + first.location)
  t.match(thanks, { status: 200, html: /<h1>Thank you for your order<\/h1>/ })
  t.ok(thanks.html.includes(`href="/payments/return?state=${back.state}"`))
  t.ok(thanks.html.includes('href="/dev/merchant-harness"'))
  const repeat = await getPage(`${service.url}/dev/merchant-success?${new URLSearchParams(back)}`)
  t.equal(repeat.status, 303, 'and again is the same')
})

t.test('a payer who returns without paying sees the reason', async (t) => {
  const answer = await submit({ return_to: '/dev/merchant-success' })
  const back = await atBank(answer.location ?? '', 'cancel')
  const first = await getPage(`${service.url}/dev/merchant-success?${new URLSearchParams(back)}`)
  const page = await getPage(service.url + first.location)
  t.match(page, { status: 200, html: /<h1>Your order was not paid<\/h1>/ })
  t.match(page.html, /You cancelled at your bank\./)
})

t.test('the money of the demo merchant is shown, and where that of a settled payment is', async (t) => {
  t.notMatch((await getPage(HARNESS)).html, 'Money of', 'there is no demo merchant')
  const demo = await ensureDemoMerchant(service.app)
  t.match((await getPage(HARNESS)).html, /Money of Demo Shop[^]*No payment has settled yet/)
  const answer = await submit({ client_id: demo.client_id, return_to: '/dev/merchant-success' })
  const back = await atBank(answer.location ?? '', 'approve')
  const first = await getPage(`${service.url}/dev/merchant-success?${new URLSearchParams(back)}`)
  const outcome = async () => (await getPage(service.url + first.location)).html
  await until('the payment is settled', async () => /Its money is in the next settlement/.test(await outcome()))
  const settlement = await closedSettlement(service, demo)
  t.match(await outcome(), new RegExp(`Its money is in the settlement ${settlement}`))
  const { html } = await getPage(HARNESS)
  t.match(html, /Balance in GBP[^]*£0\.00 in the open period, £98\.60 to be paid out/)
  t.match(html, new RegExp(`Settlement until[^]*£98\\.60 CLOSED <code>${settlement}`))
})

t.test('a payer who returns from a receipt brings no parameters, and is thanked', async (t) => {
  t.match(await getPage(`${service.url}/dev/merchant-success`), { status: 200, html: /<h1>Thank you<\/h1>/ })
})

t.test('a return without a payment, or with an invented code, changes nothing', async (t) => {
  for (const query of ['state=', 'state=x', 'state=x&code=y', 'state=%00'])
    t.equal((await getPage(`${service.url}/dev/merchant-success?${query}`)).status, 404, query)
  const answer = await submit({ return_to: '/dev/merchant-success' })
  const state = new URL(answer.location ?? '').searchParams.get('state') ?? ''
  const forged = await getPage(`${service.url}/dev/merchant-success?${new URLSearchParams({ state, code: 'made-up' })}`)
  t.match(forged, { status: 400, html: /Not confirmed yet/ })
  const waiting = await getPage(`${service.url}/dev/merchant-success?${new URLSearchParams({ state })}`)
  t.match(waiting, {
    status: 200,
    html: /<div data-status="AwaitingAuthorisation"><dt>Status<\/dt><dd>Waiting for your approval<\/dd>/,
  })
})

t.test('errors are shown, the input stays, and markup is text', async (t) => {
  const hostile = '"><script>alert(1)</script>'
  for (const [changes, words] of [
    [{ client_id: hostile }, /client id: no merchant has it/],
    [{ client_id: 'nobody' }, /client id: no merchant has it/],
    [{ amount: hostile }, /amount: must be 1 to 13 digits/],
    [{ amount: '9'.repeat(5_000) }, /amount: must be/],
    [{ currency: hostile }, /currency: must be 3 upper-case letters/],
    [{ currency: 'USD' }, /role="alert"/],
    [{ scenario: hostile }, /scenario/],
    [{ idempotency_key: 'é' }, /printable ASCII/],
    [{ bank: 'x'.repeat(51) }, /debtor_bank_id/],
  ] as const) {
    const { status, html } = await submit(changes)
    t.equal(status, 400)
    t.match(html, words)
    t.notMatch(html, /<script/)
    t.notMatch(html, /"><script/)
  }
  const all = await submit({
    client_id: 'nobody',
    amount: 'x',
    currency: 'gbp',
    idempotency_key: 'é',
    mandate: 'on',
    max_per_payment: 'much',
  })
  for (const name of ['client id', 'idempotency key', 'amount', 'currency']) t.match(all.html, `${name}: `, name)
  const rules = await submit({ client_id: 'nobody', amount: '0', mandate: 'on', max_per_payment: 'much' })
  for (const name of ['client id', 'amount', 'control_parameters.max_amount_per_payment'])
    t.match(rules.html, `${name}: `, `${name}, which only the rules refuse`)
  const odd = await submit({ return_to: 'https://evil.example/' })
  t.match(await madeWith(odd), { redirect_uri: `${service.url}/payments/return` })
})
