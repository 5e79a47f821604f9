import t from 'tap'
import type { Test } from 'tap'
import { serviceCredentials } from '../../cli/client/auth/credentials.ts'
import { makeClient } from '../../cli/client/call.ts'
import { playCase } from '../../cli/scenario/play/play.ts'
import type { CaseResult } from '../../cli/scenario/play/play.ts'
import { PLATFORM_REALM } from '../../src/lib/realms.ts'
import { createStaffClient } from '../../src/staff/staff-clients.ts'
import { ensurePlatform } from '../../src/staff/ensure-platform.ts'
import { runCli } from '../cli/harness.ts'
import { testService } from '../support/app.ts'
import { casesOf, mistakesOf, scenarioOf } from './read.ts'

const SERVICE = testService(t, { worker: true, env: { SVC_IDENTITY: 'embedded' } })
const NEVER = new AbortController().signal

/** As the operator that `svc up` makes: fees and the audit trail are an OWNER's alone. */
const OWNER = SERVICE.then(async ({ app, url }) => {
  await ensurePlatform(app)
  const actor = { id: 'test', name: 'test', role: 'OWNER' }
  const made = await createStaffClient(app, { name: 'scenarios', role: 'OWNER', actor })
  const platform = { realm: PLATFORM_REALM, clientId: made.client_id, clientSecret: made.client_secret ?? '' }
  return makeClient({
    apiUrl: url,
    credentials: serviceCredentials({ authUrl: url, platform }),
    timeoutMs: 15_000,
  })
})
t.teardown(async () => (await OWNER).close())

type Place = { env: NodeJS.ProcessEnv; cwd: string }

async function play(
  steps: readonly string[],
  { more = '', exec }: { more?: string; exec?: Place } = {},
): Promise<CaseResult> {
  const [scenario] = casesOf(scenarioOf(steps, more))
  if (scenario === undefined) throw new Error('no case')
  return playCase(await OWNER, scenario, { timeoutMs: 60_000, signal: NEVER, rerun: () => '', ...(exec && { exec }) })
}

async function passes(t: Test, steps: readonly string[], more?: string): Promise<void> {
  const { failure } = await play(steps, more === undefined ? {} : { more })
  t.same([failure?.title, failure?.message, failure?.hint, failure?.differences].filter(Boolean), [])
}

/** How the last of the steps fails. */
async function failureOf(steps: readonly string[], exec?: Place): Promise<CaseResult['failure']> {
  const { failure } = await play(steps, exec === undefined ? {} : { exec })
  if (failure !== undefined && failure.step !== steps.length) throw new Error(`${failure.title}: ${failure.message}`)
  return failure
}

const MONEY = ['customer: { as: a, balance: "50.00", name: Ada }', 'customer: { as: b, balance: "0.00", name: Bob }']

t.test("a customer looks at its accounts, what is on them and what was booked, and never at another's", (t) =>
  passes(t, [
    ...MONEY,
    'order: { as: o1, from: $a, to: $b, amount: "20.00", reference: rent }',
    'await: { order: $o1, status: AcceptedSettlementCompleted }',
    'http: { as: mine, get: /open-banking/v1/accounts, by: $a, expect: { body: { Data: [{ AccountId: $a.account_id, Status: Enabled, Currency: GBP }] } } }',
    'http: { get: "/open-banking/v1/accounts/${mine.body.Data[0].AccountId}/balances", by: $a, expect: { body: { Data: { BalanceAmount: { Amount: "30.00" }, CreditDebitIndicator: Credit } } } }',
    'expect: { account: $b, balance: "20.00", transactions: [{ Amount: { Amount: "20.00" }, TransactionReference: rent }] }',
    'http: { get: "/open-banking/v1/accounts/$b.account_id/balances", by: $a }\n    expect_error: { http: 404 }',
    'http: { get: "/open-banking/v1/accounts/$a.account_id/transactions", by: $b }\n    expect_error: { http: 404 }',
  ]),
)

t.test('an account that the bank has blocked makes no payment until it is opened again', (t) =>
  passes(t, [
    ...MONEY,
    'account: { of: $a, status: Blocked, expect: { status: Blocked, balance: "50.00" } }',
    'expect: { account: $a, status: Blocked }',
    'order: { from: $a, to: $b, amount: "1.00" }\n    expect_error: { http: 400, code: UK.OBIE.Field.Invalid, match: you have no usable account in GBP }',
    'account: { of: $a, status: Enabled }',
    'account: { of: $a, overdraft_limit: "10.00", expect: { overdraft_limit: "10.00" } }',
    'order: { as: o2, from: $a, to: $b, amount: "55.00" }',
    'await: { order: $o2, status: AcceptedSettlementCompleted }',
    'expect: { account: $a, balance: "-5.00" }',
    'account: { of: $a, overdraft_limit: "1.00" }\n    expect_error: { http: 409, code: OVERDRAFT_IN_USE }',
  ]),
)

t.test('of several events of one type, delivery and payload are those of the newest', (t) =>
  passes(t, [
    'pay: { as: p1, amount: "50.00", currency: GBP, bank: approve }',
    'await: { payment: $p1, status: Settled }',
    'payments.refund: { as: r1, payment: $p1, amount: "5.00" }',
    'expect: { webhook: payment.partially_refunded, for: $p1, payload: { data: { refund: { id: $r1.refund_id, amount: "5.00" } } } }',
    'payments.refund: { as: r2, payment: $p1, amount: "3.00" }',
    'expect: { webhook: payment.partially_refunded, for: $p1, payload: { data: { refund: { id: $r2.refund_id, amount: "3.00" } } } }',
  ]),
)

t.test('a standing order pays day by day as the clock moves, until it is cancelled', (t) =>
  passes(t, [
    ...MONEY,
    'recurring: { as: s1, from: $a, to: $b, amount: "5.00", frequency: EvryDay, first: 1h, reference: pocket, expect: { Status: InitiationCompleted } }',
    'expect: { recurring: $s1, NumberOfPayments: 0, Frequency: EvryDay }',
    'clock: { advance: 26h }',
    'await: { recurring: $s1, payments: 2 }',
    'await: { account: $b, balance: "10.00" }',
    'recurring: { cancel: $s1, by: $b }\n    expect_error: { http: 404 }',
    'expect: { recurring: $s1, by: $b, Status: Cancelled }\n    expect_error: { http: 404 }',
    'recurring: { cancel: $s1 }',
    'await: { recurring: $s1, status: Cancelled }',
    'recurring: { cancel: $s1 }\n    expect_error: { http: 409 }',
    'clock: { advance: 3d }',
    'expect: { recurring: $s1, NumberOfPayments: 2, NextRunDateTime: { absent: true } }',
    'recurring: { from: $a, to: $b, amount: "5.00", frequency: QtrDay:ENGLISH }\n    expect_error: { http: 400 }',
  ]),
)

t.test('a request to pay is asked for, accepted by its payer alone, rejected, and taken back', (t) =>
  passes(t, [
    ...MONEY,
    'request: { as: r1, from: $b, to: $a, amount: "12.00", reference: lunch, expect: { Status: Sent, Direction: Outgoing, PayeeName: Bob } }',
    'expect: { request: $r1, by: $a, Direction: Incoming, AmountRequested: { Amount: "12.00" } }',
    'request: { accept: $r1, by: $b }\n    expect_error: { http: 409 }',
    'customer: { as: c }',
    'request: { accept: $r1, by: $c }\n    expect_error: { http: 404 }',
    'expect: { request: $r1, by: $c, Status: Sent }\n    expect_error: { http: 404 }',
    'request: { accept: $r1, account_id: $a.account_id, expect: { Status: Accepted } }',
    'await: { request: $r1, status: Paid }',
    'expect: { account: $b, balance: "12.00" }',
    'request: { reject: $r1 }\n    expect_error: { http: 409 }',
    'request: { as: r2, from: $b, identifier: $a.email, amount: "1.00", due: 30d }',
    'request: { reject: $r2, by: $a, expect: { Status: Rejected, StatusReasonCode: "/^M/" } }',
    'request: { as: r3, from: $b, to: $a, amount: "1.00" }',
    'request: { cancel: $r3, expect: { Status: Rejected } }',
    'request: { accept: $r3 }\n    expect_error: { http: 409 }',
    'request: { from: $b, identifier: nobody@example.org, amount: "1.00" }\n    expect_error: { http: 400 }',
  ]),
)

t.test('an offer to pay pays once its payee accepts', (t) =>
  passes(t, [
    ...MONEY,
    'offer: { as: f1, from: $a, to: $b, amount: "7.00", idempotency_key: gift, expect: { Status: Sent, PayerName: Ada } }',
    'offer: { as: f2, from: $a, to: $b, amount: "7.00", idempotency_key: gift, expect: { OfferToPayId: $f1.OfferToPayId } }',
    'expect: { offer: $f1, by: $b, Direction: Incoming }',
    'offer: { accept: $f1, by: $a }\n    expect_error: { http: 409 }',
    'offer: { accept: $f1 }',
    'await: { offer: $f1, status: Paid }',
    'expect: { account: $a, balance: "43.00" }',
    'offer: { as: f3, from: $a, to: $b, amount: "7.00" }',
    'offer: { cancel: $f3 }',
    'await: { offer: $f3, status: Rejected }',
    'expect: { books: balanced }',
  ]),
)

t.test('waiting reports what is missing, and ends where it can no longer come', async (t) => {
  const asked = [...MONEY, 'request: { as: r1, from: $b, to: $a, amount: "12.00" }']
  t.match(await failureOf([...asked, 'await: { request: $r1, status: Paid, within: 50ms }']), {
    message: '$r1 is still Sent after 50ms; awaited was Paid',
    hint: /request: \{ accept: \$r1 \}/,
  })
  t.match(await failureOf([...asked, 'request: { reject: $r1 }', 'await: { request: $r1, status: Paid }']), {
    message: /^\$r1 is Rejected \(MS02: .+\) and can no longer become Paid$/,
  })
  const ordered = [...MONEY, 'recurring: { as: s1, from: $a, to: $b, amount: "5.00", frequency: EvryDay, first: 1h }']
  t.match(await failureOf([...ordered, 'await: { recurring: $s1, payments: 1, within: 50ms }']), {
    message: /^\$s1 is still InitiationCompleted after 0 payments after 50ms; awaited was/,
    hint: /clock: \{ advance/,
  })
  t.match(await failureOf([...ordered, 'recurring: { cancel: $s1 }', 'await: { recurring: $s1, payments: 1 }']), {
    message: /^\$s1 is Cancelled after 0 payments and can no longer become .*1 payment$/,
  })
  const foreign = [...MONEY, 'request: { as: r1, from: $b, identifier: $a.email, amount: "1.00" }']
  t.match(await failureOf([...foreign, 'request: { accept: $r1 }']), { hint: 'by: $c2' })
  t.match(
    await failureOf([
      ...ordered.slice(0, 2),
      'recurring: { from: $a, to: $b, amount: "5.00", frequency: EvryDay, first: soon }',
    ]),
    {
      message: /first: invalid day or time "soon"/,
    },
  )
})

const ACME = '{ company_name: "$name Ltd", trading_name: $name, admin_email: "ada@${name}.example" }'

t.test(
  'a merchant of its own is another one: what operators do to it is not done to the case, and stays in the trail',
  (t) =>
    passes(t, [
      'merchant: { as: other, name: Other Ltd, kyb: PENDING, fee_flat: "0.10", expect: { kyb_status: PENDING, fee_flat: "0.10" } }',
      'kyb.approve: { of: $other, reason: "papers seen", expect: { kyb_status: APPROVED } }',
      'hold.set: { of: $other, reason: "odd volume" }',
      'merchants.fees.set: { of: $other, percentage: 2%, reason: "contract", expect: { fee_percentage: "0.0200", fee_flat: "0.10" } }',
      'expect: { merchant: $other, name: Other Ltd, payout_held: true, fee_percentage: "0.0200" }',
      'expect: { merchant: $merchant, payout_held: false, fee_percentage: "0.0100", id: $merchant.merchant_id }',
      'expect: { audit: merchant.kyb, merchant: $other, reason: papers seen, merchant_id: $other.merchant_id, after: { kyb_status: APPROVED } }',
      'pay: { as: p1, amount: "10.00", currency: GBP, expect: { fee_amount: "0.30" } }',
      'merchants.disable: { of: $other, reason: "left", expect: { is_active: false } }',
      'expect: { merchant: $other, is_active: false }',
      'merchants.enable: { of: $other, reason: "back" }',
      'http: { put: "/admin/merchants/$other.merchant_id/kyb", body: { kyb_status: PENDING } }\n    expect_error: { http: 409, code: KYB_TRANSITION_INVALID }',
      'merchants.fees.set: { flat: "1.234" }\n    expect_error: { http: 400 }',
    ]),
)

t.test('a merchant that registers is PENDING until an operator approves', async (t) => {
  await passes(
    t,
    [
      'register: { as: new, expect: { kyb_status: PENDING } }',
      'expect: { merchant: $new, kyb_status: PENDING, is_active: true }',
      'kyb.approve: { of: $new, reason: x }',
      'expect: { merchant: $new, kyb_status: APPROVED, client_id: $new.client_id }',
      `register: ${ACME}`,
      `register: ${ACME}\n    expect_error: { http: 409, code: REALM_EXISTS }`,
      'register: { admin_email: nobody }\n    expect_error: { http: 400 }',
    ],
    `vars: { name: acme${Date.now()} }\n`,
  )
})

t.test(
  'with a seed the name that a merchant registers under follows from it, unless the last run has taken it',
  async (t) => {
    const [scenario] = casesOf(scenarioOf(['register: { as: new }', 'expect: { merchant: $new, kyb_status: PENDING }']))
    if (scenario === undefined) throw new Error('no case')
    const options = { timeoutMs: 60_000, signal: NEVER, rerun: () => '', seed: String(Date.now()) }
    for (const round of ['first', 'second']) {
      const { failure } = await playCase(await OWNER, scenario, options)
      t.equal(failure?.message, undefined, round)
    }
  },
)

t.test("a merchant's look, its shops' pages and its bank accounts", (t) =>
  passes(t, [
    'branding: { colors: { primary: "#112233" }, font: Georgia, expect: { font: Georgia, colors: { primary: "#112233", background: "#FFFFFF" } } }',
    'branding: { colors: { primary: red } }\n    expect_error: { http: 400 }',
    'origins: { allowed: ["https://shop.example"], expect: { origins: ["https://shop.example"] } }',
    'origins: { allowed: ["https://shop.example/a/page"] }\n    expect_error: { http: 400 }',
    'bank_account: { as: b1, sort_code: "12-34-56", account_number: "12345678", expect: { account_number: "****5678", is_active: true } }',
    'bank_account: { disable: $b1, expect: { is_active: false, id: $b1.id } }',
    'bank_account: { sort_code: "12-34", account_number: "12345678" }\n    expect_error: { http: 400 }',
  ]),
)

t.test("a step is played as the other merchant: neither sees what is the other's, and webhooks go to their own", (t) =>
  passes(t, [
    'merchant: { as: other, name: Other Ltd, receiver: {} }',
    'pay: { as: mine, amount: "10.00", currency: GBP, bank: approve }',
    'pay: { as: theirs, amount: "20.00", currency: GBP, bank: approve }\n    acting_as: $other',
    'await: { payment: $theirs, status: Settled }\n    acting_as: $other',
    'await: { payment: $mine, status: Settled }',
    'webhooks: { for: $theirs, in_order: [payment.initiated, payment.authorized, payment.settled], exactly: true }\n    acting_as: $other',
    'webhooks: { for: $mine, in_order: [payment.initiated, payment.authorized, payment.settled], exactly: true }',
    'expect: { of: $theirs, status: Settled }\n    expect_error: { http: 404 }',
    'payments.refund: { payment: $mine }\n    acting_as: $other\n    expect_error: { http: 404 }',
    'await: { account: $other, balance: "20.00" }',
    'expect: { account: $merchant, balance: "10.00" }',
    'http: { get: /payments, expect: { body: { data: [{ payment_id: $theirs.payment_id }] } } }\n    acting_as: $other',
    'secret.rotate: { overlap: 1h }\n    acting_as: $other',
    'receiver: { secret: newest }\n    acting_as: $other',
    'payments.refund: { payment: $theirs }\n    acting_as: $other',
    'await: { webhook: payment.refunded, for: $theirs }\n    acting_as: $other',
  ]),
)

t.test('a receiver that a step gives another merchant stays with it', (t) =>
  passes(t, [
    'merchant: { as: other, name: Other Ltd }',
    'receiver: { answers: [200] }\n    acting_as: $other',
    'pay: { as: theirs, amount: "20.00", currency: GBP, bank: approve }\n    acting_as: $other',
    'await: { payment: $theirs, status: Settled }\n    acting_as: $other',
    'webhooks: { for: $theirs, in_order: [payment.initiated, payment.authorized, payment.settled], exactly: true }\n    acting_as: $other',
  ]),
)

t.test('a list that is to be empty and is not, is no match', async (t) => {
  t.match(await failureOf([...MONEY, 'expect: { account: $a, transactions: [] }']), {
    message: 'the transactions of $a is not as expected',
  })
})

t.test('what operators did not do is not in the trail', async (t) => {
  t.match(await failureOf(['expect: { audit: merchant.kyb, merchant: $merchant }']), {
    message: 'the audit trail has no merchant.kyb about $merchant',
  })
})

const HERE = { env: { PATH: process.env['PATH'], SVC_TOKEN: 'of-somebody-else', HOME: '/nowhere' }, cwd: '/' }
const NODE = process.execPath
const node = (program: string, word = '', more = 'expect: { exit: 0 }'): string =>
  `exec: { run: ["${NODE}", -e, ${JSON.stringify(program)}${word}], ${more} }`
const SEEN = `{ argv: [$p1.payment_id], WHO: $merchant.name, SVC_CLIENT_ID: $merchant.client_id, SVC_MERCHANT_ID: $merchant.merchant_id, SVC_API_URL: "/^http/", SVC_CLIENT_SECRET: "***", SVC_WEBHOOK_SECRET: "***", HOME: /nowhere, SVC_TOKEN: { absent: true } }`

t.test(
  "a command of the user's own acts as the case's merchant, and its end is held against what is expected",
  async (t) => {
    const told = 'console.log(JSON.stringify({ ...process.env, argv: process.argv.slice(1) }))'
    const { failure } = await play(
      [
        'pay: { as: p1, amount: "5.00", currency: GBP }',
        node(told, ', $p1.payment_id', `as: e1, env: { WHO: $merchant.name }, expect: { stderr: "", json: ${SEEN} }`),
        'exec: { run: "echo one; echo $$WHO >&2; exit 3", env: { WHO: "$e1.json.argv[0]" }, expect: { exit: 3, stdout: one, stderr: $p1.payment_id } }',
        node(`fetch(process.env.SVC_API_URL + '/healthz').then((r) => console.log(r.status))`),
      ],
      { exec: HERE },
    )
    t.same([failure?.title, failure?.message, failure?.differences].filter(Boolean), [])
  },
)

t.test('a failed, hanging or missing command is reported with its last output, without secrets', async (t) => {
  const failing =
    'console.error("one\\ntwo " + process.env.SVC_CLIENT_SECRET); console.error("eyJhbGciOiJQUzI1NiJ9.eyJhIjoxfQ.c2ln"); process.exit(4)'
  t.match(await failureOf([node(failing)], HERE), {
    message: /ended with exit code 4: one \| two \*\*\* \| \*\*\*$/,
    differences: [{ path: 'exit', expected: '0', actual: '4' }],
    exchange: undefined,
  })
  t.match(await failureOf(['exec: { run: "sleep 30 & echo begun; sleep 30", within: 2s }'], HERE), {
    message: /did not end by itself: its time was over: begun$/,
  })
  t.match(await failureOf(['exec: { run: [no-such-program] }'], HERE), {
    message: 'no-such-program did not end by itself: it could not be started: spawn no-such-program ENOENT',
  })
  t.match(await failureOf([node('console.log(1)', '', 'expect: { json: { a: 1 } }')], HERE), {
    message: 'what the command printed is not as expected: json',
  })
  t.match(await failureOf(['exec: { run: "touch /nowhere" }']), {
    message: 'this step runs a command on this machine, which is not allowed',
    hint: /--allow-exec/,
  })
})

t.test('without --allow-exec nothing is played of files that run commands', async (t) => {
  const folder = t.testdir({ 'x.yaml': scenarioOf([...MONEY, 'exec: { run: [node, x.mjs] }']) })
  const { url } = await SERVICE
  const words = ['sandbox', 'run', 'x.yaml', '--api-url', url]
  t.match(await runCli(words, { cwd: folder }), {
    code: 2,
    stdout: '',
    stderr: /x\.yaml:6:5.*which is not allowed[^]*--allow-exec/,
  })
  t.match(await runCli(['sandbox', 'scenarios', 'validate', 'x.yaml'], { cwd: folder }), { code: 0 })
})

t.test('a request as it is written is a customer’s, a merchant’s, the operator’s, or anonymous', async (t) => {
  const accounts = 'http: { get: /open-banking/v1/accounts'
  await passes(t, [
    ...MONEY,
    'merchant: { as: other, name: Other Ltd }',
    `${accounts}, by: $a, as: h, expect: { body: { Data: [{ AccountId: $a.account_id }] } } }`,
    'http: { get: "/open-banking/v1/accounts/$a.account_id/balances", by: $b, expect: { http: [400, 403, 404] } }',
    `${accounts}, by: anonymous, expect: { http: 401 } }`,
    `${accounts}, by: $other, expect: { http: [401, 403] } }`,
    'pay: { as: p1, amount: "5.00", currency: GBP }',
    'http: { get: "/payments/$p1.payment_id", by: $merchant }',
    'http: { get: "/payments/$p1.payment_id", by: $other, expect: { http: 404 } }',
    'http: { get: "/payments/$p1.payment_id", by: anonymous, expect: { http: 401 } }',
    'http: { get: "/payments/$p1.payment_id", by: $a, expect: { http: [401, 403] } }',
    'http: { get: /admin/merchants, by: $other, expect: { http: 403 } }',
    'http: { get: /admin/merchants, by: operator }',
    'expect: { account: $a, transactions: [{ CreditDebitIndicator: Credit }] }',
  ])
})

t.test('mistakes are found before anything is played', (t) => {
  const told = (...steps: string[]) =>
    mistakesOf(scenarioOf([...MONEY, ...steps])).map((line) => line.replace(/^\S+ /, ''))
  const cases: [string, RegExp][] = [
    ['exec: { run: "echo $a.name" }', /a reference in a line for the shell/],
    ['exec: { run: [] }', /run/],
    ['kyb.approve: { of: $a }', /^\$a is not valid here: expected merchant; only a step merchant makes one$/],
    ['request: { from: $b, amount: "1.00" }', /takes one of to and identifier/],
    ['request: { accept: $a }', /^\$a is not valid here: expected request; only a step request makes one$/],
    ['recurring: { from: $a, to: $b, amount: "1.00" }', /"frequency" is missing here/],
    ['await: { recurring: $s1, payments: 1 }', /unknown reference \$s1/],
    ['account: { of: $a }', /one or both of status and overdraft_limit/],
    ['account: { of: $a, status: blocked }', /did you mean Blocked/],
    [
      'bank_account: { disable: $b }',
      /^\$b is not valid here: expected bank account; only a step bank_account makes one$/,
    ],
    [
      'order: { from: $merchant, to: $a, amount: "1.00" }',
      /^\$merchant is not valid here: expected customer; only a step customer makes one$/,
    ],
    ['balances: { of: $a }', /^unknown verb "balances"$/],
    ['pay: { amount: "1.00", currency: GBP }\n    acting_as: $a', /^\$a is not valid here: expected merchant/],
    ['expect: { merchant: $merchant }', /expect says nothing about \$merchant/],
    ['recuring: { cancel: $b }', /did you mean "recurring"/],
  ]
  for (const [step, wrong] of cases) t.match(told(step).join(' | '), wrong, step)
  const shell = scenarioOf(['exec: { run: "echo $word" }'], 'vars: { word: one }\n')
  t.match(mistakesOf(shell, { word: 'one; rm -rf .' }), [/a reference in a line for the shell/], 'a variable neither')
  t.end()
})
