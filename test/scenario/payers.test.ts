import t from 'tap'
import type { Test } from 'tap'
import { headerCredentials } from '../../cli/client/auth/credentials.ts'
import { makeClient } from '../../cli/client/call.ts'
import { curlOf, replyOf } from '../../cli/scenario/masked.ts'
import { playCase } from '../../cli/scenario/play/play.ts'
import type { CaseResult } from '../../cli/scenario/play/play.ts'
import { testService } from '../support/app.ts'
import { casesOf, mistakesOf, scenarioOf } from './read.ts'

const SERVICE = testService(t, { worker: true, env: { SVC_VRP_CAPS: 'enforce' } })
const NEVER = new AbortController().signal
const TESTER = headerCredentials({ clientId: undefined, platformUser: 'tester' })

/** Plays a case of these steps, one a line; what follows !! is the refusal that the step is expected to meet. */
async function play(t: Test, steps: string): Promise<CaseResult> {
  const client = makeClient({ apiUrl: (await SERVICE).url, credentials: TESTER, timeoutMs: 15_000 })
  t.teardown(() => client.close())
  const lines = steps
    .trim()
    .split('\n')
    .map((line) => line.trim().replace(/ !! (.+)$/, '\n    expect_error: { $1 }'))
  const [scenario] = casesOf(scenarioOf(lines))
  if (scenario === undefined) throw new Error('no case')
  return playCase(client, scenario, { timeoutMs: 30_000, signal: NEVER, rerun: () => 'again' })
}

async function passes(t: Test, steps: string): Promise<void> {
  const { failure } = await play(t, steps)
  t.equal(failure?.message, undefined, failure?.title ?? 'plays as it is written')
}

const SETTLED = `await: { payment: $p1, status: Settled }`

t.test('a payer signs in with a link that works once, and sees and disputes what is the payer’s own', (t) =>
  passes(
    t,
    `pay: { as: p1, amount: "50.00", currency: GBP, payer_email: ada@payer.example, bank: approve }
    pay: { as: other, amount: "5.00", currency: GBP, payer_email: eve@payer.example }
    ${SETTLED}
    payer.link: { as: link, contact: ADA@payer.example }
    payer.verify: { as: ada, link: $link, expect: { contact: "a…@payer.example", expires_in: 900 } }
    payer.verify: { link: $link } !! http: 401, code: LINK_INVALID
    payer.verify: { token: "made-up-by-somebody-else" } !! http: 401, code: LINK_INVALID
    payer.payments: { payer: $ada, count: 1, newest: [{ payment_id: $p1.payment_id, is_disputable: true }] }
    expect: { receipt: $p1, payer: $ada, net_amount: "49.30", history: [AwaitingAuthorisation, Authorised, Settled] }
    expect: { receipt: $other, payer: $ada, status: Settled } !! http: 404, code: PAYMENT_NOT_FOUND
    payer.dispute: { payer: $ada, payment: $other, reason: UNAUTHORISED } !! http: 404
    payer.dispute: { as: d1, payer: $ada, payment: $p1, reason: OTHER, statement: "wrong size", expect: { status: OPEN } }
    payer.dispute: { payer: $ada, payment: $p1, reason: OTHER, statement: "again" } !! http: 409, code: DISPUTE_ALREADY_OPEN
    expect: { dispute: $d1, payer_statement: "wrong size" }
    expect: { receipt: $p1, payer: $ada, dispute: { id: $d1.id, status: OPEN } }
    payer.link: { as: again, contact: ada@payer.example }
    payer.verify: { as: later, link: $again }
    payer.sign_out: { payer: $ada }
    payer.payments: { payer: $ada } !! http: 401
    payer.payments: { payer: $later, count: 1 }
    http: { get: /payer/payments, by: $later, expect: { body: { data: [{ payment_id: $p1.payment_id }] } } }
    http: { get: /payer/payments, by: $ada, expect: { http: 401 } }
    http: { get: /payer/payments, by: anonymous, expect: { http: 401 } }
    http: { get: "/payments/$p1.payment_id", by: $later, expect: { http: [401, 403] } }
    clock: { advance: 16m }
    payer.payments: { payer: $later } !! http: 401`,
  ),
)

t.test('a number is as good as an address, and who has paid nothing is sent no link', (t) =>
  passes(
    t,
    `pay: { as: p1, amount: "5.00", currency: GBP, payer_phone: "+447700900199" }
    payer.link: { as: link, contact: "07700 900199" }
    payer.verify: { as: bob, link: $link }
    payer.payments: { payer: $bob, count: 1 }
    payer.link: { contact: nobody@payer.example, arrives: false, within: 150ms }`,
  ),
)

t.test('a link is over after ten minutes', (t) =>
  passes(
    t,
    `pay: { as: p1, amount: "5.00", currency: GBP, payer_email: late@payer.example }
    payer.link: { as: link, contact: late@payer.example }
    clock: { advance: 11m }
    payer.verify: { link: $link } !! http: 401, code: LINK_INVALID`,
  ),
)

t.test('a mandate: payments within its caps, none above, and none once the payer has ended it', (t) =>
  passes(
    t,
    `pay: { as: m1, amount: "10.00", currency: GBP, payer_email: vrp@payer.example, bank: approve, mandate: { max_amount_per_payment: "20.00", periodic_limits: [{ period: YEAR, max_amount: "45.00" }], valid_for: 30d } }
    await: { consent: $m1, status: AUTHORISED }
    pay: { as: p2, amount: "20.00", currency: GBP, consent: $m1, expect: { redirect_url: null, consent_id: $m1.consent_id } }
    await: { payment: $p2, status: Settled }
    pay: { amount: "20.01", currency: GBP, consent: $m1 } !! http: 422, code: MANDATE_LIMIT_EXCEEDED
    pay: { amount: "15.01", currency: GBP, consent: $p2 } !! http: 422, code: MANDATE_LIMIT_EXCEEDED
    expect: { consent: $m1, payment_count: 2, max_amount_per_payment: "20.00", allowances: [{ period: YEAR, remaining_amount: "15.00" }] }
    payer.link: { as: link, contact: vrp@payer.example }
    payer.verify: { as: ada, link: $link }
    payer.consents: { payer: $ada, count: 1, newest: [{ consent_id: $m1.consent_id, payment_count: 2 }] }
    payments.mandates.cancel: { consent: $m1, payer: $ada, expect: { status: REVOKED } }
    pay: { amount: "1.00", currency: GBP, consent: $m1 } !! http: 409, code: MANDATE_NOT_USABLE
    payer.consents: { payer: $ada, count: 0 }
    expect: { consent: $m1, status: REVOKED }
    webhooks: { for: $m1, in_order: [payment.settled, consent.revoked] }
    await: { webhook: consent.revoked, for: $m1 }
    expect: { webhook: consent.revoked, for: $m1, attempt_count: 1, payload: { data: { revokedBy: PAYER } } }`,
  ),
)

t.test("the end of one mandate is no other's", async (t) => {
  const mandate = (name: string): string =>
    `pay: { as: ${name}, amount: "10.00", currency: GBP, bank: approve, mandate: { max_amount_per_payment: "20.00", periodic_limits: [{ period: YEAR, max_amount: "45.00" }], valid_for: 30d } }
    await: { consent: $${name}, status: AUTHORISED }`
  const ended = `${mandate('m1')}
    ${mandate('m2')}
    payments.mandates.end: { consent: $m1 }
    expect: { webhook: consent.revoked, for: $m1, payload: { data: { revokedBy: MERCHANT } } }`
  await passes(t, ended)
  for (const other of ['expect: { webhook: consent.revoked', 'await: { within: 200ms, webhook: consent.revoked']) {
    const { failure } = await play(t, `${ended}\n    ${other}, for: $m2 }`)
    t.match(failure?.message, /consent\.revoked for \$m2/)
  }
})

t.test('time gives a mandate its allowance back, and ends it', (t) =>
  passes(
    t,
    `pay: { as: m1, amount: "10.00", currency: GBP, bank: approve, mandate: { valid_for: 10d, control_parameters: { MaximumIndividualAmount: { Amount: "20.00", Currency: GBP }, PeriodicLimits: [{ PeriodType: Day, PeriodAlignment: Consent, Amount: "10.00", Currency: GBP }] } } }
    await: { payment: $m1, status: Settled }
    pay: { amount: "1.00", currency: GBP, consent: $m1 } !! code: MANDATE_LIMIT_EXCEEDED
    clock: { advance: 2d }
    pay: { as: p2, amount: "1.00", currency: GBP, consent: $m1 }
    await: { payment: $p2, status: Settled }
    clock: { advance: 9d }
    await: { consent: $m1, status: EXPIRED }
    pay: { amount: "1.00", currency: GBP, consent: $m1 } !! http: 409, code: MANDATE_NOT_USABLE`,
  ),
)

t.test('a merchant ends a mandate of its own; a single payment has none to end, and a payer no stranger’s', (t) =>
  passes(
    t,
    `pay: { as: m1, amount: "10.00", currency: GBP, bank: approve, mandate: { control_parameters: { MaximumIndividualAmount: { Amount: "20.00", Currency: GBP } } } }
    pay: { as: p1, amount: "5.00", currency: GBP, payer_email: single@payer.example, bank: approve }
    await: { payment: $m1, status: Settled }
    payer.link: { as: link, contact: single@payer.example }
    payer.verify: { as: eve, link: $link }
    payments.mandates.cancel: { consent: $m1, payer: $eve } !! http: 404, code: CONSENT_NOT_FOUND
    payments.mandates.cancel: { consent: $p1, payer: $eve } !! http: 409, code: CONSENT_NOT_REVOCABLE
    payments.mandates.end: { consent: $m1, expect: { status: REVOKED } }
    payments.mandates.end: { consent: $p1 } !! http: 409, code: CONSENT_NOT_REVOCABLE
    pay: { amount: "1.00", currency: GBP, mandate: { periodic_limits: [] } } !! http: 400, match: max_amount_per_payment`,
  ),
)

t.test('a checkout: opened, paid once for each order, by a token of the merchant alone', (t) =>
  passes(
    t,
    `checkout: { as: p1, amount: "12.50", currency: GBP, order: order-1, opened: { amount: "12.50", is_paid: false, mode: sandbox }, bank: approve, expect: { gross_amount: "12.50" } }
    ${SETTLED}
    checkout: { again: $p1, pays: false, opened: { is_paid: true } }
    checkout: { again: $p1 } !! http: 409, code: CHECKOUT_ALREADY_PAID
    checkout: { amount: "12.50", currency: GBP, order: order-1 } !! code: CHECKOUT_ALREADY_PAID
    checkout: { amount: "12.50", currency: GBP, signed: wrong } !! http: 401
    checkout: { amount: "12.50", currency: GBP, expires_in: 0s } !! http: 401
    checkout: { as: p2, amount: "1.00", currency: EUR, signed: false, scenario: insufficient-funds, bank: approve }
    await: { payment: $p2, status: Failed }
    customer: { as: c1, balance: "9.00" }
    checkout: { as: p3, amount: "4.00", currency: GBP, from: $c1, opened: { is_fast_path: true }, bank: approve }
    await: { account: $c1, balance: "5.00" }
    payment.contact: { payment: $p1, contact: shop@payer.example }
    payment.contact: { payment: $p1, contact: thief@payer.example } !! http: 409, code: CONTACT_ALREADY_KNOWN
    payer.link: { as: link, contact: shop@payer.example }
    payer.verify: { as: ada, link: $link }
    payer.payments: { payer: $ada, newest: [{ payment_id: $p1.payment_id }] }`,
  ),
)

t.test('the return from the bank by hand: wrong ones change nothing, the right one counts once', (t) =>
  passes(
    t,
    `pay: { as: p1, amount: "5.00", currency: GBP }
    sca: { payment: $p1, state: "somebody-elses", code: "x" } !! http: 403, code: STATE_MISMATCH
    sca: { payment: $p1, code: "made-up" } !! http: 400, code: CODE_INVALID
    expect: { of: $p1, status: AwaitingAuthorisation }
    bank: { approve: $p1, returns: false }
    expect: { of: $p1, status: AwaitingAuthorisation }
    sca: { payment: $p1, expect: { failure: null } }
    ${SETTLED}
    sca: { payment: $p1, expect: { status: Settled } }
    pay: { as: p2, amount: "5.00", currency: GBP }
    sca: { payment: $p2, error: access_denied, error_description: "no thanks", expect: { status: Failed, failure: { code: ACCESS_DENIED } } }
    pay: { as: p3, amount: "5.00", currency: GBP }
    sca: { payment: $p3, error: server_error, expect: { failure: { code: BANK_ERROR } } }`,
  ),
)

t.test('a payment is cancelled by its merchant or its payer, and not once it is authorised', (t) =>
  passes(
    t,
    `pay: { as: p1, amount: "5.00", currency: GBP }
    payments.cancel: { payment: $p1, expect: { status: Failed } }
    checkout: { as: p2, amount: "5.00", currency: GBP }
    payer.cancel: { payment: $p2, expect: { status: Failed } }
    webhooks: { for: $p2, in_order: [payment.initiated, payment.failed] }
    pay: { as: p3, amount: "5.00", currency: GBP, bank: approve }
    payments.cancel: { payment: $p3 } !! http: 409, code: PAYMENT_NOT_CANCELLABLE
    payer.cancel: { payment: $p3 } !! http: 409`,
  ),
)

t.test('the bank’s full login: what it takes, what it refuses, and a scenario for a user name', (t) =>
  passes(
    t,
    `pay: { as: p1, amount: "5.00", currency: GBP }
    bank: { approve: $p1, login: { password: guessed } } !! http: 400, match: "password is wrong"
    bank: { approve: $p1, login: { code: "000000" } } !! http: 400, match: "4 tries are left"
    bank: { approve: $p1, login: { code: ["111111", "123456"] } }
    ${SETTLED}
    pay: { as: p2, amount: "5.00", currency: GBP }
    bank: { approve: $p2, login: { username: insufficient-funds } }
    await: { payment: $p2, status: Failed }
    pay: { as: p3, amount: "5.00", currency: GBP }
    bank: { approve: $p3, login: { code: ["1", "2", "3", "4", "5"] } }
    expect: { of: $p3, status: Failed, failure: { code: AUTHORISATION_FAILED } }
    pay: { as: p4, amount: "5.00", currency: GBP }
    bank: { cancel: $p4, login: true }
    expect: { of: $p4, failure: { code: ACCESS_DENIED } }`,
  ),
)

t.test('what can’t be done is reported with what would help', async (t) => {
  const failing: [string, object][] = [
    [
      `pay: { as: p1, amount: "5.00", currency: GBP }
      sca: { payment: $p1 }`,
      { message: /has not sent the payer of \$p1 back/, hint: /bank: \{ approve: \$p1, returns: false \}/ },
    ],
    [
      `pay: { as: p1, amount: "5.00", currency: GBP }
      checkout: { again: $p1 }`,
      { message: '$p1 was not started with a checkout token', hint: /pay: \{ repeat/ },
    ],
    [
      `checkout: { as: p1, amount: "5.00", currency: GBP }
      pay: { repeat: $p1 }`,
      { message: '$p1 was started with a checkout token', hint: /checkout: \{ again: \$p1 \}/ },
    ],
    [
      `payer.link: { contact: silence@payer.example, within: 50ms }`,
      { message: 'no link for silence@payer.example came within 50ms', hint: /payer_email/ },
    ],
    [
      `payer.link: { contact: "just a name" }`,
      { message: '"just a name" is neither an e-mail address nor a phone number' },
    ],
    [
      `pay: { as: m1, amount: "5.00", currency: GBP, bank: cancel, mandate: { max_amount_per_payment: "5.00" } }
      await: { consent: $m1, status: AUTHORISED, within: 10s }`,
      { message: 'the mandate of $m1 is REJECTED and can no longer become AUTHORISED' },
    ],
    [
      `pay: { as: m1, amount: "5.00", currency: GBP, bank: approve, mandate: { max_amount_per_payment: "5.00" } }
      pay: { as: p2, amount: "1.00", currency: GBP, consent: $m1 }
      bank: { approve: $p2 }`,
      { message: /made under a mandate: the bank asks the payer nothing/, hint: /^await/ },
    ],
    [
      `pay: { as: p1, amount: "5.00", currency: GBP, payer_email: loud@payer.example }
      payer.link: { contact: loud@payer.example, arrives: false, within: 10s }`,
      { message: 'a link was sent to loud@payer.example, where none was to come' },
    ],
    [
      `checkout: { as: p1, amount: "5.00", currency: GBP, bank: approve }
      ${SETTLED}
      payment.contact: { payment: $p1, contact: listed@payer.example }
      payer.link: { as: link, contact: listed@payer.example }
      payer.verify: { as: ada, link: $link }
      payer.payments: { payer: $ada, newest: [] }`,
      { message: /^the payments of \$ada/ },
    ],
  ]
  for (const [steps, failure] of failing) t.match((await play(t, steps)).failure, failure)
})

t.test('no report shows what would let its reader in', async (t) => {
  const shown: string[] = []
  for (const steps of [
    `checkout: { amount: "5.00", currency: GBP, opened: { amount: "6.00" } }`,
    `checkout: { as: p1, amount: "5.00", currency: GBP, expect: { gross_amount: "6.00" } }`,
    `pay: { amount: "5.00", currency: GBP, payer_email: shown@payer.example }
    payer.link: { as: link, contact: shown@payer.example }
    payer.verify: { link: $link, expect: { contact: nobody } }`,
    `checkout: { as: p1, amount: "5.00", currency: GBP }
    payer.cancel: { payment: $p1, expect: { status: Settled } }`,
  ]) {
    const { failure } = await play(t, steps)
    if (failure?.exchange === undefined) throw new Error(`no exchange: ${failure?.message}`)
    const { headers, reply = '', body } = failure.exchange
    const secrets = [
      headers['x-checkout-token'],
      headers['x-payment-state'],
      ...[reply, body ?? ''].flatMap(
        (text) => /"(?:session_token|payment_state|token|state)":"([^"]+)"/.exec(text)?.[1],
      ),
    ].filter((secret) => secret !== undefined)
    t.ok(secrets.length > 0, 'there was something to hide')
    const report = `${curlOf(failure.exchange)} ${replyOf(failure.exchange)} ${JSON.stringify(failure.differences)}`
    for (const secret of secrets) t.notOk(report.includes(secret))
    shown.push(report)
  }
  t.match(shown[0], /x-checkout-token: \*\*\*/)
})

t.test('what is wrong in a file is reported before anything is played', async (t) => {
  const pay = 'pay: { as: p1, amount: "5.00", currency: GBP }'
  const told: [string[], RegExp][] = [
    [
      [pay, 'payer.verify: { as: ada, link: $p1 }'],
      /\$p1 is not valid here: expected link; only a step payer\.link makes one/,
    ],
    [[pay, 'payer.payments: { payer: $ada }'], /unknown reference \$ada/],
    [['payer.link: { as: link, contact: ada@payer.example }', 'payer.verify: { as: ada }'], /one of link and token/],
    [['checkout: { amount: "5.00" }'], /checkout takes amount and currency, or again/],
    [
      [pay, 'payments.mandates.end: { consent: $p1.consent_id }'],
      /consent must be a payment by its name, such as \$p1/,
    ],
    [[pay, 'payments.cancel: { payment: $p1, by: payer }'], /unknown field "by"/],
    [['pay: { amount: "5.00", currency: GBP, mandate: { max_amount: "5.00" } }'], /unknown field "max_amount"/],
    [[pay, 'expect: { consent: $p1, stattus: REVOKED }'], /unknown field "stattus": did you mean "status"/],
    [['payer.verfy: { link: $x }'], /unknown verb "payer\.verfy": did you mean "payer\.verify"/],
  ]
  for (const [steps, mistake] of told) t.match(mistakesOf(scenarioOf(steps)).join('\n'), mistake)
})
