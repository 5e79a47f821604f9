import t from 'tap'
import type { Test } from 'tap'
import { dayFrom, firstMoment } from '../../cli/base/moments.ts'
import { addCustomer, balanceOf } from '../support/customers.ts'
import type { TestCustomer } from '../support/customers.ts'
import { testService } from '../support/app.ts'
import { fakeService, runCli } from './harness.ts'
import type { Answer, CliSettings, Outcome } from './harness.ts'

const DAY_MS = 86_400_000
const inDays = (days: number): string => new Date(Date.now() + days * DAY_MS).toISOString().slice(0, 10)
const grouped = (number: string): string => number.replace(/^(..)(..)(..)(.{8})$/, '$1-$2-$3 $4')

type As = (customer: TestCustomer, words: readonly string[], settings?: CliSettings) => Promise<Outcome>

/** A payer with two accounts and a payee. The tests share one service: what they make, they make for themselves. */
async function openBank(t: Test) {
  const service = await testService(t, { worker: true })
  const as: As = (customer, words, { env = {}, ...settings } = {}) =>
    runCli(['ob', ...words], {
      ...settings,
      env: { SVC_API_URL: service.url, SVC_CUSTOMER_ID: customer.externalId, NO_COLOR: '1', ...env },
    })
  const payer = await addCustomer(service, {
    name: 'Grace Payer',
    accounts: [{}, { currency: 'EUR', balance: 5_000n, iban: 'DE89370400440532013000' }],
  })
  const payee = await addCustomer(service, { name: 'Ada Payee', mobile: '+447700900123' })
  return {
    service,
    payer,
    payee,
    as,
    json: async (customer: TestCustomer, words: readonly string[]) => {
      const { code, stdout, stderr } = await as(customer, [...words, '--json'])
      if (code !== 0) throw new Error(`${words.join(' ')} ended with ${code}: ${stderr}`)
      return JSON.parse(stdout)
    },
  }
}

t.test('a customer at the bank', async (t) => {
  const { service, payer, payee, as, json } = await openBank(t)
  const [current, euros] = payer.accounts
  const toPayee = ['--to', grouped(payee.account.number)]
  const pay = (...words: string[]) => as(payer, ['pay', '--currency', 'GBP', ...toPayee, ...words])

  t.test('accounts and balances, of the caller alone', async (t) => {
    const listed = await as(payer, ['accounts'], { tty: true })
    t.match(listed, { code: 0, stdout: /ID +ACCOUNT[^]*GBP[^]*EUR/ })
    t.ok(listed.stdout.includes(grouped(payer.account.number)))
    t.notOk(listed.stdout.includes(grouped(payee.account.number)))
    t.match(await as(payer, ['accounts', '-o', 'id']), { stdout: `${current?.id}\n${euros?.id}\n` })

    t.match(await as(payer, ['balances']), { code: 0, stdout: /1000\.00 +GBP\n.* +50\.00 +EUR/ })
    for (const name of [
      euros?.id ?? '',
      euros?.id.slice(-8) ?? '',
      grouped(euros?.number ?? ''),
      euros?.number.slice(-8) ?? '',
      'DE89 3704 0044 0532 0130 00',
    ])
      t.match(await json(payer, ['balances', name]), {
        AccountId: euros?.id,
        BalanceAmount: { Amount: '50.00', Currency: 'EUR' },
      })
    for (const other of [
      payee.account.id,
      payee.account.id.slice(-8),
      payee.account.number,
      payee.account.number.slice(-8),
    ])
      t.match(await as(payer, ['balances', other]), { code: 6, stderr: /account not found: [^]*Try: svc ob accounts/ })
    const [titles, pounds] = (await as(payer, ['accounts', '-o', 'csv'])).stdout.split('\n')
    t.equal(titles, 'AccountId,Currency,AccountType,AccountSubType,Nickname,Status,SortCodeAccountNumber,IBAN')
    t.match(pounds, new RegExp(`^${current?.id},GBP,.*,Enabled,${current?.number},`))
    t.match((await as(payer, ['accounts', '-o', 'csv'])).stdout, /,DE89370400440532013000\n$/)
    t.match(await as(payer, ['accounts', '--page', '99']), {
      code: 0,
      stdout: '',
      stderr: /^There are none on page 99: the last page is 1\.\n$/,
    })
    t.match(await as(payee, ['recurring', 'list', '--page', '2']), { code: 0, stderr: /on page 2: the last page is 1/ })
    t.match(await as(payee, ['offer-to-pay', 'list']), { code: 0, stderr: 'There are no offers to pay.\n' })
    const csv = (await as(payer, ['balances', '-o', 'csv'])).stdout.split('\n')
    t.equal(csv[0], 'AccountId,BalanceAmount.Amount,BalanceAmount.Currency,CreditDebitIndicator')
    t.equal(csv[1], `${current?.id},1000.00,GBP,Credit`)
    t.match(await as(payer, ['balances', '-o', 'csv', '--json=BalanceAmount.Amount']), {
      stdout: 'BalanceAmount.Amount\n1000.00\n50.00\n',
    })
  })

  t.test('transactions: signed, filtered, page by page', async (t) => {
    const saver = await addCustomer(service, { name: 'Tim Saver' })
    for (let number = 1; number <= 27; number += 1)
      await service.owner.query(
        `select book_transfer(gen_random_uuid(), $1, null, $2, 'GBP', 'Tim Saver', 'A shop', $3)`,
        [saver.account.id, number, `purchase ${number}`],
      )
    const first = await as(saver, ['transactions', '--page-size', '25'])
    t.match(first, {
      code: 0,
      stdout: /DAY +DESCRIPTION +REFERENCE +AMOUNT +BALANCE/,
      stderr: /Account .*, GBP\nThere are more: --page 2, or --all/,
    })
    t.match(first.stdout, /A shop +purchase 27 +-0\.27 +996\.22/)
    t.match(
      (await as(saver, ['transactions', '--page', '2', '--page-size', '25'])).stdout,
      /opening +1000\.00 +1000\.00/,
    )
    t.equal((await json(saver, ['transactions', '--page-size', '25'])).length, 25)
    const all: { TransactionId: string }[] = await json(saver, ['transactions', '--all', '--page-size', '25'])
    t.equal(new Set(all.map(({ TransactionId }) => TransactionId)).size, 28)
    t.equal((await json(saver, ['transactions', '--since', '30d', '--until', inDays(1), '--all'])).length, 28)
    t.match(await as(saver, ['transactions', '--since', inDays(1)]), {
      code: 0,
      stdout: '',
      stderr: /no such transactions/,
    })
    t.match(
      (await as(saver, ['transactions', '--all', '-o', 'csv'])).stdout,
      /^TransactionId,Amount\.Amount,Amount\.Currency,.*Balance\.Amount\.Amount.*,SignedAmount\n\S+,0\.27,.*,-0\.27\n/,
    )
    for (const [words, said] of [
      [['--page-size', '24'], /--page-size: must be a whole number from 25 to 1000/],
      [['--page', '0'], /--page: /],
      [['--since', 'yesterday'], /--since: invalid time "yesterday"/],
      [['--since', '2026-02-30'], /--since: invalid time "2026-02-30"/],
      [
        ['--since', inDays(0), '--until', inDays(-1)],
        /--since: must not be after the end of the period\n[^]*--until: must not be before its beginning\n/,
      ],
    ] as const)
      t.match(await as(saver, ['transactions', ...words]), { code: 2, stderr: said })
  })

  t.test('a payment is ordered, waited for, and shown', async (t) => {
    const before = await balanceOf(service, payee.account.id)
    const paid = await pay(
      '--amount',
      '10',
      '--name',
      'Ada Payee',
      '--reference',
      'invoice 7',
      '--wait',
      '--timeout',
      '20s',
    )
    t.match(paid, {
      code: 0,
      stdout: /Status +AcceptedSettlementCompleted\nAmount +10\.00 GBP\nTo +Ada Payee/,
      stderr: /^Idempotency key: /,
    })
    t.equal(await balanceOf(service, payee.account.id), before + 1_000n)
    const id = /Payment +(\S+)/.exec(paid.stdout)?.[1] ?? ''
    t.match(await json(payer, ['payment', id]), { PaymentId: id, RemittanceInformation: { Reference: 'invoice 7' } })
    t.match(await as(payee, ['payment', id]), { code: 6, stderr: /Try: the whole id/ })
    t.match((await as(payer, ['transactions'])).stdout, /invoice 7 +-10\.00/)

    const once = await json(payer, [
      'pay',
      '--amount',
      '1.5',
      '--currency',
      'gbp',
      ...toPayee,
      '--idempotency-key',
      'order-1',
    ])
    t.match(once, { Status: 'Pending', InstructedAmount: { Amount: /^1\.50?$/, Currency: 'GBP' } })
    t.match(await pay('--amount', '1.5', '--idempotency-key', 'order-1', '-q', 'PaymentId'), {
      stdout: `${once.PaymentId}\n`,
    })
    const other = await pay('--amount', '2.5', '--idempotency-key', 'order-1', '--json')
    t.equal(other.code, 7)
    t.match(JSON.parse(other.stderr), {
      error: {
        code: 'UK.OBIE.Rules.ResourceAlreadyExists',
        status: 409,
        message: /idempotency-key was used with another/,
        idempotency_key: 'order-1',
        hint: /another --idempotency-key/,
      },
    })
  })

  t.test('a payer may be named by number, by id, or by a part of that', async (t) => {
    for (const from of [current?.number, current?.number.slice(-8), current?.id, current?.id.slice(-8)])
      t.match(await json(payer, ['pay', '--amount', '0.01', '--currency', 'GBP', ...toPayee, '--from', from ?? '']), {
        DebtorAccountId: current?.id,
      })
    t.match(await pay('--amount', '1', '--from', 'ffffffff'), { code: 6, stderr: /account not found: ffffffff/ })
    const foreign = await pay('--amount', '1', '--from', payee.account.number)
    t.match(foreign, { code: 2, stderr: /--from: / }, 'an account of somebody else is none of the payer')
  })

  t.test('a rejected payment ends with 3 and its reason', async (t) => {
    const { code, stdout, stderr } = await pay('--amount', '999999.00', '--wait', '--timeout', '20s', '--json')
    t.equal(code, 3)
    t.match(JSON.parse(stdout), { Status: 'Rejected', StatusReasonCode: 'AM04' })
    t.match(JSON.parse(stderr), { error: { code: 'STATE_IMPOSSIBLE', message: /Rejected \(AM04/, payment_id: /./ } })
  })

  t.test('--dry-run shows the request, and what can not be sent is refused before', async (t) => {
    const shown = await pay('--amount', '10', '--currency', 'gbp', '--dry-run', '--json')
    t.match(JSON.parse(shown.stdout), {
      method: 'POST',
      body: { InstructedAmount: { Amount: '10.00', Currency: 'GBP' }, EndToEndIdentification: /^SVC[0-9a-f]{32}$/ },
      effect: /^this would pay 10\.00 GBP to /,
    })
    const toOneself = ['--amount', '10', '--currency', 'EUR', '--to', 'DE89370400440532013000', '--dry-run']
    const refused = { code: 2, stderr: /--to: is the debtor's own account/ }
    t.match(await pay(...toOneself), refused, 'the service is asked')
    for (const [words, said] of [
      [['--amount', '10.001'], /--amount: has digits below the minor unit/],
      [['--amount', '1,000.00'], /--amount: must be 1 to 13 digits/],
      [['--amount', '12,50'], /--amount: invalid amount "12,50": use a decimal point, such as 12\.50/],
      [['--amount', '-1'], /--amount: /],
      [['--amount', '0'], /--amount: must be greater than 0/],
      [['--amount', '1', '--currency', 'USD'], /--currency: must be GBP or EUR/],
      [['--amount', '1', '--to', '1234'], /--to: must be 14 digits/],
      [['--amount', '1', '--to', 'DE89370400440532013001'], /--to: must be 14 digits .*, or an IBAN/],
      [['--amount', '1', '--reference', 'x'.repeat(36)], /--reference: /],
      [['--amount', '1', '--timeout', 'soon'], /--timeout/],
    ] as const)
      t.match(await pay(...words), { code: 2, stderr: said }, words.join(' '))
    const both = await pay('--amount', '0', '--to', '1', '--json')
    t.match(JSON.parse(both.stderr).error, {
      code: 'VALIDATION_FAILED',
      errors: [
        { path: 'InstructedAmount.Amount', flag: '--amount' },
        { path: 'CreditorAccount.Identification', flag: '--to' },
      ],
    })
  })

  t.test('a recurring payment is ordered, listed, and cancelled by the end of its id', async (t) => {
    const create = ['recurring', 'create', '--amount', '850', '--currency', 'GBP', ...toPayee, '--reference', 'rent']
    const made = await json(payer, [
      ...create,
      '--frequency',
      'IntrvlMnthDay:01:31',
      '--first',
      '2030-01-31',
      '--final',
      '2030-12-31',
    ])
    t.match(made, {
      Status: 'InitiationCompleted',
      FirstPaymentDateTime: '2030-01-31T09:00:00.000Z',
      FinalPaymentDateTime: '2030-12-31T23:59:00.000Z',
    })
    const end = made.RecurringPaymentId.slice(-8)
    t.match(await as(payer, ['recurring', 'list'], { tty: true }), {
      code: 0,
      stdout: new RegExp(`${end}[^]*every month[^]*850\\.00`),
    })
    t.match(await as(payer, ['recurring', 'show', end]), {
      code: 0,
      stdout:
        /When +every month on the 31st .*\(IntrvlMnthDay:01:31\)[^]*Final +2030-12-31 23:59 London\nNext +2030-01-31 09:00 London/,
    })
    t.match(await as(payee, ['recurring', 'show', made.RecurringPaymentId]), {
      code: 6,
      stderr: /Try: svc ob recurring list/,
    })
    t.match(await as(payer, ['recurring', 'cancel', end, '--dry-run', '--json']), {
      code: 0,
      stdout: /"method":"DELETE"/,
    })
    t.match(await as(payer, ['recurring', 'cancel', end]), { code: 0, stdout: /Status +Cancelled/ })
    t.match(await as(payer, ['recurring', 'cancel', end]), { code: 7, stderr: /Try: svc ob recurring show/ })
    const refused = await as(payer, [...create, '--frequency', 'WkInMnthDay:01:01', '--first', '2030-01-31'])
    t.match(refused, {
      code: 2,
      stderr: /--frequency: has the form WkInMnthDay, .*EvryDay, EvryWorkgDay, IntrvlWkDay:.* or IntrvlMnthDay:/,
    })
    const past = await as(payer, [
      ...create,
      '--frequency',
      'EvryDay',
      '--first',
      '2020-01-31',
      '--final',
      '2019-01-01',
      '--json',
    ])
    t.equal(past.code, 2)
    t.match(JSON.parse(past.stderr).error, {
      code: 'UK.OBIE.Field.InvalidDate',
      errors: [{ path: 'FirstPaymentDateTime', flag: '--first' }],
    })
  })

  t.test('a first payment is now, soon, or on a day; the rules on its times name flags', async (t) => {
    const create = ['recurring', 'create', '--amount', '1', '--currency', 'GBP', ...toPayee, '--frequency', 'EvryDay']
    const firstOf = async (text: string, ...words: string[]): Promise<string> =>
      JSON.parse((await as(payer, [...create, '--first', text, ...words, '--dry-run', '--json'])).stdout).body
        .FirstPaymentDateTime
    const aheadMs = async (text: string): Promise<number> => Date.parse(await firstOf(text)) - Date.now()
    const isAbout = (ms: number, expected: number): boolean => ms > expected - 10_000 && ms <= expected
    t.ok(isAbout(await aheadMs('now'), 5_000))
    t.ok(isAbout(await aheadMs('+10m'), 600_000))
    t.ok(isAbout(await aheadMs('2h'), 7_200_000))
    t.match(await firstOf('+14d'), /T0[89]:00:00\.000Z$/, 'a number of days is a day')
    t.match(await json(payer, [...create, '--first', 'now', '--final', '1d']), { Status: 'InitiationCompleted' })
    const keyed = [...create, '--final', '1d', '--idempotency-key', 'standing-1']
    const first = await as(payer, [...keyed, '--first', '1d', '-q', 'RecurringPaymentId'])
    t.match(await as(payer, [...keyed, '--first', '1d', '-q', 'RecurringPaymentId']), { code: 0, stdout: first.stdout })
    const other = await as(payer, [...keyed, '--first', '+11m', '--json'])
    t.match([other.code, JSON.parse(other.stderr).error], [7, { idempotency_key: 'standing-1' }])
    t.match(await as(payer, [...create, '--first', '2030-02-01', '--final', '2030-01-01']), {
      code: 2,
      stderr: /--final: is before --first\n/,
    })
    t.match(await as(payer, [...create, '--first', 'soon']), {
      code: 2,
      stderr: /invalid day or time "soon"[^]*--first now/,
    })
    const ask = [
      'request-to-pay',
      'create',
      '--to',
      payee.email,
      '--amount',
      '1',
      '--currency',
      'GBP',
      '--name',
      'Grace',
    ]
    for (const due of ['now', '+36h', '3d'])
      t.match(
        JSON.parse((await as(payer, [...ask, '--due', due, '--dry-run', '--json'])).stdout).body.DueDate,
        /^\d{4}-\d\d-\d\d$/,
      )
  })

  t.test('a request to pay is accepted and paid, another is rejected', async (t) => {
    const ask = (reference: string) =>
      json(payee, [
        'request-to-pay',
        'create',
        '--to',
        payer.email,
        '--amount',
        '25',
        '--currency',
        'GBP',
        '--due',
        '14d',
        '--name',
        'Ada',
        '--reference',
        reference,
      ])
    const [tickets, other, own] = [await ask('tickets'), await ask('other'), await ask('own')]
    t.match(tickets, { Status: 'Sent', Direction: 'Outgoing', AmountRequested: { Amount: '25.00' } })
    t.match((await as(payer, ['request-to-pay', 'list'], { tty: true })).stdout, /from +Ada +25\.00[^]*Sent/)
    const end = tickets.RequestToPayId.slice(-8)
    const paid = await as(payer, [
      'request-to-pay',
      'accept',
      end,
      '--account',
      current?.number ?? '',
      '--wait',
      '--timeout',
      '20s',
    ])
    t.match(paid, { code: 0, stdout: /Status +Paid\n/ })
    t.match(await as(payer, ['request-to-pay', 'accept', end]), { code: 7, stderr: /APAR|already|paid/i })
    t.match(await as(payee, ['request-to-pay', 'accept', other.RequestToPayId]), { code: 7 }, 'only its payer accepts')
    t.match(await as(payee, ['request-to-pay', 'reject', own.RequestToPayId]), {
      code: 0,
      stdout: /Status +Rejected\nReason +[A-Z0-9]{4}: \w/,
    })
    t.match(await as(payer, ['request-to-pay', 'reject', other.RequestToPayId.slice(-8)]), {
      code: 0,
      stdout: /Status +Rejected/,
    })
    t.match(await as(payee, ['request-to-pay', 'show', other.RequestToPayId, '-q', 'Status']), { stdout: 'Rejected\n' })
    const nobody = ['request-to-pay', 'create', '--amount', '1', '--currency', 'GBP', '--name', 'Ada']
    t.match(await as(payee, [...nobody, '--to', 'nobody@example.org', '--due', '1d']), { code: 2, stderr: /--to: / })
    t.match(await as(payee, [...nobody, '--to', payer.email, '--due', 'soon']), {
      code: 2,
      stderr: /--due: must be a day/,
    })
  })

  t.test('an offer to pay is made to a mobile number, and taken', async (t) => {
    const offer = await json(payer, [
      'offer-to-pay',
      'create',
      '--to',
      '+447700900123',
      '--amount',
      '5',
      '--currency',
      'GBP',
      '--name',
      'Grace',
    ])
    t.match(offer, { Status: 'Sent', AmountOffered: { Amount: '5.00' } })
    const taken = await as(payee, [
      'offer-to-pay',
      'accept',
      offer.OfferToPayId.slice(-8),
      '--wait',
      '--timeout',
      '20s',
    ])
    t.match(taken, { code: 0, stdout: /Offer +\S+\nStatus +Paid\nAmount +5\.00 GBP\nFrom +Grace/ })
    t.match(await as(payer, ['offer-to-pay', 'list', '-o', 'csv']), {
      stdout: /^OfferToPayId,Status,.*AmountOffered\.Amount,AmountOffered\.Currency\n.*,Paid,/,
    })
    const rich = await json(payer, [
      'offer-to-pay',
      'create',
      '--to',
      '+447700900123',
      '--amount',
      '900000',
      '--currency',
      'GBP',
      '--name',
      'Grace',
    ])
    const poor = await as(payee, ['offer-to-pay', 'accept', rich.OfferToPayId, '--wait', '--timeout', '20s'])
    t.match(poor, { code: 3, stderr: /AM04/ })
  })

  t.test('the customer comes from the flag, then the variable; without either it is exit code 4', async (t) => {
    const named = await as(payer, ['--customer', payee.externalId, 'accounts', '-q', '[].AccountId'])
    t.match(named, { stdout: `${payee.account.id}\n` })
    const after = await as(payer, ['balances', 'ffffffff', '--customer', payee.externalId])
    t.match(after, { code: 6, stderr: new RegExp(`Try: svc ob --customer ${payee.externalId} accounts`) })
    const env = { SVC_API_URL: service.url }
    t.match(await runCli(['ob', 'accounts'], { env }), {
      code: 4,
      stderr: /nothing says which customer[^]*Try: --customer <id>, or SVC_CUSTOMER_ID/,
    })
    const unknown = await runCli(['ob', 'accounts', '--customer', 'nobody', '--json'], { env })
    t.equal(unknown.code, 4)
    t.match(JSON.parse(unknown.stderr).error, {
      code: 'UK.OBIE.Header.Invalid',
      status: 401,
      message: 'no customer has this id',
      hint: /^which customers there are: svc sandbox accounts; with an identity provider/,
      request_id: /./,
    })
    const who = await runCli(['whoami', '--customer', '--json'], { env: { ...env, SVC_CUSTOMER_ID: payer.externalId } })
    t.match(JSON.parse(who.stdout), {
      kind: 'customer',
      subject: payer.externalId,
      permissions: ['accounts', 'payments'],
    })
    t.equal((await runCli(['whoami', '--customer'], { env: { ...env, SVC_CUSTOMER_ID: 'nobody' } })).code, 4)
  })
})

const PENDING = {
  PaymentId: 'p-1',
  Status: 'Pending',
  StatusISO: 'PDNG',
  CreationDateTime: '2026-11-21T09:30:00.000Z',
  StatusUpdateDateTime: '2026-11-21T09:30:00.000Z',
  InstructionIdentification: 'i',
  EndToEndIdentification: 'e',
  InstructedAmount: { Amount: '1.00', Currency: 'GBP' },
  DebtorAccountId: 'a',
  CreditorAccount: { SchemeName: 'UK.OBIE.IBAN', Identification: 'DE89370400440532013000' },
}

const REJECTED = {
  RequestToPayId: '01a1fd03-f879-7eb7-872f-a2b4358c4f6d',
  Status: 'Rejected',
  StatusReasonCode: 'AM04',
  StatusReason: 'not enough money',
  Direction: 'Incoming',
  CreationDateTime: '2026-11-21T09:30:00.000Z',
  StatusUpdateDateTime: '2026-11-21T09:30:00.000Z',
  ExpirationDateTime: '2026-11-22T09:30:00.000Z',
  PayeeName: 'Ada',
  PayerIdentifier: 'grace@example.org',
  AmountRequested: { Amount: '1.00', Currency: 'GBP' },
  DueDate: '2026-11-22',
}

/** A refusal of Surface A: the whole's own, or of fields. */
function obRefusal(status: number, errors: readonly object[], message = 'refused'): Answer {
  return { status, json: { Code: `${status} Some`, Id: 'interaction-1', Message: message, Errors: errors } }
}

t.test('an interrupted payment prints the key that leads to it', async (t) => {
  const { url } = await fakeService(t, () => {
    setImmediate(() => process.emit('SIGINT', 'SIGINT'))
    return 'silence'
  })
  const amount = ['--amount', '1', '--currency', 'GBP', '--customer', 'grace', '--json', '--idempotency-key', 'order-1']
  for (const words of [
    ['pay', '--to', '00007512345678'],
    ['recurring', 'create', '--frequency', 'EvryDay', '--first', 'now', '--to', '00007512345678'],
    ['offer-to-pay', 'create', '--to', 'grace@example.org', '--name', 'Ada'],
  ]) {
    const { code, stderr } = await runCli(['ob', ...words, ...amount], { env: { SVC_API_URL: url } })
    t.equal(code, 130, `${words.join(' ')}: ${stderr}`)
    t.match(JSON.parse(stderr), { error: { code: 'INTERRUPTED', idempotency_key: 'order-1', hint: /order-1/ } })
  }
})

t.test("refusals keep OBIE's codes, list every field, and end as everywhere", async (t) => {
  let answer: Answer = {}
  const { url } = await fakeService(t, () => answer)
  const run = (...words: string[]) =>
    runCli(
      ['ob', 'pay', '--amount', '1', '--currency', 'GBP', '--to', '00007512345678', '--customer', 'grace', ...words],
      { env: { SVC_API_URL: url } },
    )
  for (const [status, exit] of [
    [400, 2],
    [401, 4],
    [403, 5],
    [404, 6],
    [406, 2],
    [409, 7],
    [429, 8],
    [500, 1],
    [503, 8],
  ] as const) {
    answer = obRefusal(status, [{ ErrorCode: 'UK.OBIE.Some', Message: 'refused; try this' }])
    t.match(
      await run(),
      { code: exit, stderr: /Error: refused; try this\n[^]*\[request interaction-1\]\n$/ },
      String(status),
    )
  }
  answer = obRefusal(400, [
    { ErrorCode: 'UK.OBIE.Unsupported.Currency', Message: 'must be GBP', Path: 'InstructedAmount.Currency' },
    { ErrorCode: 'UK.OBIE.Field.Missing', Message: 'is required', Path: 'Something.New' },
  ])
  t.match(await run(), {
    code: 2,
    stderr: /Error: 2 values are wrong\n {2}--currency: must be GBP\n {2}Something\.New: is required\n/,
  })
  t.match(JSON.parse((await run('--json')).stderr).error, {
    code: 'UK.OBIE.Unsupported.Currency',
    message: '--currency: must be GBP; Something.New: is required',
    status: 400,
    request_id: 'interaction-1',
    errors: [{ path: 'InstructedAmount.Currency', flag: '--currency' }, { path: 'Something.New' }],
    idempotency_key: /./,
  })
  answer = { status: 502, text: 'a proxy' }
  t.match(await run(), { code: 1, stderr: /not as svc does/ })
})

t.test('a payment that does not end in time is exit code 9, and its id is printed', async (t) => {
  const { url } = await fakeService(t, ({ method }) => ({ status: method === 'POST' ? 201 : 200, json: PENDING }))
  const words = [
    'ob',
    'pay',
    '--amount',
    '1',
    '--currency',
    'GBP',
    '--to',
    'DE89370400440532013000',
    '--wait',
    '--timeout',
    '1ms',
    '--json',
  ]
  const late = await runCli(words, { env: { SVC_API_URL: url, SVC_CUSTOMER_ID: 'grace' } })
  t.equal(late.code, 9)
  t.match(JSON.parse(late.stderr).error, {
    code: 'WAIT_TIMED_OUT',
    payment_id: 'p-1',
    retryable: true,
    hint: /svc ob payment p-1; to wait longer: /,
  })
})

t.test('in live mode a cancellation asks first', async (t) => {
  const info = {
    name: 'svc',
    version: '0.1.0',
    mode: 'live',
    identity: 'none',
    auth_url: null,
    platform_realm: 'platform',
    customers_realm: 'customers',
  }
  const { url, requests } = await fakeService(t, () => ({ json: info }))
  const id = '01a1fd03-f879-7eb7-872f-a2b4358c4f6d'
  const cancelled = await runCli(['ob', 'recurring', 'cancel', id], {
    env: { SVC_API_URL: url, SVC_CUSTOMER_ID: 'grace' },
  })
  t.match(cancelled, { code: 2, stderr: /would cancel the recurring payment .*asks first/ })
  t.notOk(requests.some(({ method }) => method === 'DELETE'))
})

t.test('a day alone is refused as the first once 09:00 in London has passed on it', async (t) => {
  // In winter, when London's time is UTC.
  const noon = Date.parse('2027-01-15T12:00:00Z')
  for (const today of ['2027-01-15', '0d']) {
    const error = await firstMoment(today, '--first', noon).catch((caught: unknown) => caught)
    t.match(error, {
      message: '--first: a day alone is 09:00 in London, which has passed today',
      options: { exit: 2, hint: '--first now\nfrom tomorrow on: --first 1d' },
    })
  }
  for (const [text, expected] of [
    ['1d', '2027-01-16T09:00:00.000Z'],
    ['2027-01-15T12:01', '2027-01-15T12:01:00.000Z'],
    ['2027-01-14', '2027-01-14T09:00:00.000Z'],
    ['now', '2027-01-15T12:00:05.000Z'],
  ] as const)
    t.equal(await firstMoment(text, '--first', noon), expected, text)
  t.equal(await dayFrom('+36h', '--due', noon), '2027-01-17')
  t.equal(await dayFrom('now', '--due', noon), '2027-01-15')
})

t.test('a reason is shown with its text, in requests and offers as in payments', async (t) => {
  const { url } = await fakeService(t, () => ({ json: REJECTED }))
  const shown = await runCli(['ob', 'request-to-pay', 'show', REJECTED.RequestToPayId], {
    env: { SVC_API_URL: url, SVC_CUSTOMER_ID: 'grace' },
  })
  t.match(shown, { code: 0, stdout: /Reason +AM04: not enough money/ })
})

t.test('a wrong command line is answered with the help of its own command, however deep that is', async (t) => {
  for (const [words, command] of [
    ['ob recurring create --frequency', 'ob recurring create'],
    ['ob --customer pay recurring create --nonsense', 'ob recurring create'],
    ['ob recurring list extra', 'ob recurring list'],
    ['ob nonsense', 'ob'],
    ['-p demo webhooks endpoint set --nonsense', 'webhooks endpoint set'],
  ] as const)
    t.match((await runCli(words.split(' '))).stderr, new RegExp(`Try: svc ${command} --help\\n$`), words)
})
