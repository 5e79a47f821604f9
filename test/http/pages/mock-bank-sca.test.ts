import t from 'tap'
import { createPayment, testService, untilStatus } from '../../support/app.ts'
import { capturedLog } from '../../support/captured-log.ts'
import { addCustomer, balanceOf } from '../../support/customers.ts'
import { getPage, hiddenFields, postForm } from '../../support/forms.ts'
import type { PageAnswer } from '../../support/forms.ts'

const PASSWORD = 'canary-password-7'
const { log, lines } = capturedLog()
const service = await testService(t, {
  worker: true,
  overrides: { log },
  env: { SVC_MOCK_BANK_USERNAME: 'ada', SVC_MOCK_BANK_PASSWORD: PASSWORD, SVC_MOCK_BANK_CODE: '314159' },
})
const merchant = await service.merchant()
const SCA = `${service.url}/dev/mock-bank-sca`

type Begun = { id: string; page: PageAnswer }

/** A payment that was led on from the bank's short page to its login. */
async function begin(changes: Record<string, unknown> = {}): Promise<Begun> {
  const { body } = await createPayment(service, merchant, {
    redirect_uri: `${service.url}/payments/return`,
    ...changes,
  })
  const led = await getPage(`${body.redirect_url}&sca=full`)
  return { id: body.payment_id, page: await getPage(service.url + led.location) }
}

/** Sends what a page's form has, and this beside it. */
function send(page: PageAnswer, fields: Record<string, string>): Promise<PageAnswer> {
  return postForm(SCA, { ...hiddenFields(page.html), ...fields })
}

function signIn({ page }: Begun, username = 'ada', password = PASSWORD): Promise<PageAnswer> {
  return send(page, { username, password })
}

/** All steps up to the decision. */
async function upToApproval(begun: Begun, username = 'ada'): Promise<PageAnswer> {
  return send(await signIn(begun, username), { code: '314159' })
}

/** Follows the way back, as the browser does. */
async function comeBack({ location }: PageAnswer): Promise<void> {
  await getPage(location ?? '')
}

async function decisionOf({ id }: Begun): Promise<{ decision: string; scenario: string } | undefined> {
  const { rows } = await service.owner.query(
    `select a.decision, a.scenario from mock_bank.authorisations a join payment_intents p on p.bank_consent_id = a.state
     where p.id = $1`,
    [id],
  )
  return rows[0]
}

t.test('sca=full leads on with the same address, and the short page stays without it', async (t) => {
  const { body } = await createPayment(service, merchant)
  const led = await getPage(`${body.redirect_url}&sca=full`)
  t.equal(led.status, 303)
  const url = new URL(led.location ?? '', service.url)
  t.equal(url.pathname, '/dev/mock-bank-sca')
  const { searchParams } = new URL(body.redirect_url)
  for (const [name, value] of searchParams) t.equal(url.searchParams.get(name), value, name)
  t.match(await getPage(body.redirect_url), { status: 200, html: /Approve £50\.00</ })
})

t.test('password, code and approval pay', async (t) => {
  const begun = await begin()
  t.match(begun.page, { status: 200, html: /<h1>Sign in to pay Acme<\/h1>/ })
  t.match(begun.page.html, /<code>ada<\/code> with the password <code>canary-password-7<\/code>/, 'told, for a sandbox')
  const code = await signIn(begun)
  t.match(code, { status: 200, html: /<h1>Enter your one-time code<\/h1>/ })
  const approval = await send(code, { code: ' 314 159 ' })
  t.match(approval, { status: 200, html: /Approve £50\.00</ })
  t.equal(await decisionOf(begun), undefined, 'nothing is decided before the last step')
  const end = await send(approval, { decision: 'approve' })
  t.match(end, { status: 303, location: /\/payments\/return\?code=[\w-]+&state=/ })
  await comeBack(end)
  await untilStatus(service, merchant, begun.id, 'Settled')
})

t.test('the account that is chosen pays', async (t) => {
  const { account } = await addCustomer(service, {})
  const begun = await begin()
  const approval = await upToApproval(begun)
  t.match(approval.html, /<label for="account">Pay from<\/label>/)
  await comeBack(await send(approval, { decision: 'approve', account: account.id }))
  await untilStatus(service, merchant, begun.id, 'Settled')
  t.equal(await balanceOf(service, account.id), 95_000n)
})

t.test('a wrong user name or password is one message, and changes nothing', async (t) => {
  const begun = await begin()
  const texts = new Set<string>()
  for (const [username, password] of [
    ['ada', 'wrong-canary'],
    ['eve', PASSWORD],
    ['', ''],
    ['ADA', PASSWORD],
    ['insufficient-funds', 'wrong-canary'],
    ['success-slow-settle', PASSWORD],
    ['constructor', PASSWORD],
    ['<script>alert(1)</script>', 'x'.repeat(15_000)],
  ] as const) {
    const answer = await signIn(begun, username, password)
    t.equal(answer.status, 400)
    t.match(answer.html, /role="alert">The user name or the password is wrong\. Nothing was authorised\./)
    t.notMatch(answer.html, /wrong-canary|<script|eve|name="login"/)
    texts.add(answer.html)
  }
  t.equal(texts.size, 1, 'nothing of what was entered comes back')
  t.equal(await decisionOf(begun), undefined)
})

t.test("a scenario's name as the user name decides the outcome of the payment", async (t) => {
  const poor = await begin({ scenario: 'success' })
  const approval = await upToApproval(poor, 'insufficient-funds')
  t.match(approval.html, /Scenario insufficient-funds/)
  await comeBack(await send(approval, { decision: 'approve' }))
  t.match(await decisionOf(poor), { decision: 'approve', scenario: 'insufficient-funds' })
  const failed = await untilStatus(service, merchant, poor.id, 'Failed')
  t.equal(failed.failure.code, 'INSUFFICIENT_FUNDS')
  const lost = await begin()
  const stranded = await send(await upToApproval(lost, 'never-returns'), { decision: 'approve' })
  t.match(stranded, { status: 200, location: undefined, html: /not sent back/ })
  const slow = await begin()
  t.match(await upToApproval(slow, 'success-slow-settle:90s'), { html: /Scenario success-slow-settle:90s/ })
})

t.test('the payer may leave at every step, without proving anything', async (t) => {
  for (const at of [0, 1, 2]) {
    const begun = await begin()
    const pages = [begun.page, at > 0 ? await signIn(begun) : begun.page]
    if (at > 1) pages.push(await send(pages[1] ?? begun.page, { code: '314159' }))
    const end = await send(pages[at] ?? begun.page, { decision: 'cancel' })
    t.match(end, { status: 303, location: /error=access_denied/ })
    await comeBack(end)
    const { failure } = await untilStatus(service, merchant, begun.id, 'Failed')
    t.equal(failure.code, 'ACCESS_DENIED')
  }
})

t.test('after five wrong codes the bank rejects the payment', async (t) => {
  const begun = await begin()
  let page = await signIn(begun)
  for (const left of ['4 tries are', '3 tries are', '2 tries are', 'One try is']) {
    page = await send(page, { code: '000000' })
    t.equal(page.status, 400)
    t.match(page.html, `The code is wrong. ${left} left`)
  }
  const end = await send(page, { code: '000000' })
  t.match(end, { status: 303, location: /code=/ })
  await comeBack(end)
  const { failure } = await untilStatus(service, merchant, begun.id, 'Failed')
  t.match(failure, { code: 'AUTHORISATION_FAILED', source: 'ASPSP_REJECTION' })
  const late = await send(page, { code: '314159' })
  t.equal(late.location, end.location, 'the right code comes too late')
})

t.test('signing in again gives no new tries, and codes side by side are no more than five', async (t) => {
  const begun = await begin()
  const pages = await Promise.all([signIn(begun), signIn(begun), signIn(begun)])
  const answers = await Promise.all(
    Array.from({ length: 30 }, (_, index) => send(pages[index % 3] ?? begun.page, { code: `00000${index % 10}` })),
  )
  t.equal(answers.filter(({ status }) => status === 400).length, 4, 'four were told that they may try again')
  t.match(await send(await signIn(begun), { code: '314159' }), { status: 303 })
  t.match(await decisionOf(begun), { scenario: 'sca-fails' })
})

t.test('otp-wrong-then-ok: the first code is wrong whatever it is, and the right one then is right', async (t) => {
  for (const scenario of [{ scenario: 'otp-wrong-then-ok' }, {}]) {
    const begun = await begin(scenario)
    const code = await signIn(begun, 'scenario' in scenario ? 'ada' : 'otp-wrong-then-ok')
    const wrong = await send(code, { code: '314159' })
    t.match(wrong, { status: 400, html: /4 tries are left/ })
    t.match(await send(wrong, { code: '000000' }), { status: 400, html: /3 tries are left/ })
    const approval = await send(wrong, { code: '314159' })
    t.match(approval, { status: 200, html: /Approve/ })
    await comeBack(await send(approval, { decision: 'approve' }))
    await untilStatus(service, merchant, begun.id, 'Settled')
  }
})

t.test('no step is skipped: a login of another step, payment or hand opens nothing', async (t) => {
  const [begun, other] = [await begin(), await begin()]
  const { request = '' } = hiddenFields(begun.page.html)
  const { login: half = '' } = hiddenFields((await signIn(begun)).html)
  const { login: whole = '' } = hiddenFields((await upToApproval(begun)).html)
  const { login: foreign = '' } = hiddenFields((await upToApproval(other)).html)
  const [payload = '', mac = ''] = whole.split('.')
  const read: object = JSON.parse(Buffer.from(payload, 'base64url').toString())
  const altered = Buffer.from(JSON.stringify({ ...read, scenario: 'refund-fails' })).toString('base64url')
  const [halfPayload = ''] = half.split('.')
  const risen = Buffer.from(
    JSON.stringify({ ...JSON.parse(Buffer.from(halfPayload, 'base64url').toString()), step: 'code' }),
  ).toString('base64url')
  for (const login of [
    '',
    'x',
    half,
    foreign,
    `${altered}.${mac}`,
    `${risen}.${half.split('.')[1]}`,
    request,
    payload,
    `${whole}.x`,
  ]) {
    const answer = await postForm(SCA, { request, login, decision: 'approve' })
    t.match(answer, { status: 400, location: undefined, html: /Sign in first/ }, login.slice(0, 20))
  }
  for (const login of ['', whole, foreign, 'x']) {
    t.match(await postForm(SCA, { request, login, code: '314159' }), { status: 400, html: /Sign in first/ })
  }
  t.match(await postForm(`${SCA}?${new URLSearchParams({ request })}`, { decision: 'approve' }), { status: 400 })
  t.equal(await decisionOf(begun), undefined)
  t.match(await postForm(SCA, { request, login: whole, decision: 'approve' }), { status: 303 }, 'the genuine one does')
})

t.test('the address must be the one that the bank signed', async (t) => {
  const { body } = await createPayment(service, merchant)
  const url = new URL(body.redirect_url)
  url.pathname = '/dev/mock-bank-sca'
  url.searchParams.set('redirect_uri', 'https://evil.example/')
  t.match(await getPage(url.href), { status: 400, html: /can&#39;t be used|can't be used/ })
  t.equal((await getPage(SCA)).status, 400)
  t.match(await postForm(SCA, { username: 'ada', password: PASSWORD }), { status: 400 })
  const { request = '' } = hiddenFields((await begin()).page.html)
  const twice: [string, string][] = [
    ['request', request],
    ['username', 'ada'],
    ['username', 'eve'],
    ['password', PASSWORD],
  ]
  t.match(await postForm(SCA, twice), { status: 400, html: /username more than once/ })
})

t.test('the last step shows the terms of a mandate', async (t) => {
  const validTo = new Date(Date.now() + 200 * 86_400_000).toISOString()
  const begun = await begin({
    consent_type: 'VARIABLE_RECURRING',
    control_parameters: { max_amount_per_payment: '75.50' },
    valid_to: validTo,
  })
  const { html } = await upToApproval(begun)
  t.match(html, /Acme may take further payments/)
  t.match(html, /<dt>At most, each payment<\/dt><dd>£75\.50<\/dd>/)
  t.match(html, `<dt>Until</dt><dd><time datetime="${validTo}">`)
})

t.test('approving a payment that was cancelled meanwhile takes no money, and the return page says so', async (t) => {
  const begun = await begin()
  const approval = await upToApproval(begun)
  await service.call('POST', `/api/v1/payments/${begun.id}/cancel`, { merchant })
  const end = await send(approval, { decision: 'approve' })
  t.match(end.location, /code=/, 'the bank has books of its own')
  const back = await getPage(end.location ?? '')
  const { html } = await getPage(service.url + back.location)
  t.match(html, /<h1>Not paid<\/h1>[^]*<p>Nothing was paid to Acme\.<\/p>[^]*The shop cancelled the payment\./)
})

t.test('no password, code or login is in the log', async (t) => {
  const begun = await begin()
  await signIn(begun, 'ada', 'wrong-canary')
  const approval = await upToApproval(begun)
  const { login = '' } = hiddenFields(approval.html)
  await send(approval, { decision: 'approve' })
  const told = lines().join('\n')
  t.match(told, '"path":"/dev/mock-bank-sca"')
  for (const secret of [PASSWORD, 'wrong-canary', '314159', login]) t.notOk(told.includes(secret))
})
