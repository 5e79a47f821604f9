import { randomUUID } from 'node:crypto'
import t from 'tap'
import { settlementAccountOf } from '../../src/accounts/settlement-account.ts'
import type { ConsentRequest, DebtorAccount } from '../../src/banks/connector.ts'
import { sealRequest } from '../../src/banks/mock-request.ts'
import type { MockBankRequest } from '../../src/banks/mock-request.ts'
import { makeIds } from '../../src/lib/ids.ts'
import { until } from '../support/app.ts'
import { addCustomer, balanceOf } from '../support/customers.ts'
import type { TestAccount } from '../support/customers.ts'
import { brokenInvariants } from '../support/invariants.ts'
import {
  BANK_SECRET,
  addPayee,
  books,
  consentRequest,
  decideOn,
  executionOf,
  patience,
  refundOf,
  stage,
  testMockBank,
} from '../support/mock-bank.ts'

const { bank, pool, owner } = await testMockBank(t)
const service = { owner }
const GRACE = { scheme: 'UK.OBIE.SortCodeAccountNumber' } as const

const balance = (account: { id: string }) => balanceOf(service, account.id)
const execute = (consent: ConsentRequest) => bank.execute(executionOf(consent), patience())
const give = (consent: ConsentRequest, amount = consent.amount) =>
  bank.refund(refundOf(consent, { amount }), patience())
const setStatus = (account: { id: string }, status: string) =>
  owner.query('update accounts set status = $2 where id = $1', [account.id, status])

/** A consent that the payer has approved, paying from this account. */
async function approved(over: Partial<ConsentRequest> = {}, account?: string): Promise<ConsentRequest> {
  const consent = consentRequest(over)
  t.ok(await decideOn(bank, consent, 'approve', account), 'the payer comes back with a code')
  return consent
}

/** The merchant's account, which the first payment opens. */
async function settlementOf(payeeId: string, currency = 'GBP'): Promise<TestAccount & { customer: string }> {
  const { rows } = await owner.query(
    `select a.id, a.sort_code_account_number as number, a.currency, a.iban, c.external_customer_id as customer
     from accounts a join customers c on c.id = a.customer_id where c.merchant_id = $1 and a.currency = $2`,
    [payeeId, currency],
  )
  if (rows.length !== 1) throw new Error(`${rows.length} settlement accounts`)
  return rows[0]
}

async function statementOf(account: { id: string }): Promise<Record<string, string>[]> {
  const { rows } = await owner.query(
    `select credit_debit_indicator as side, amount_minor::text as amount, balance_minor::text as balance, counterparty_name as name, reference
     from transactions where account_id = $1 order by number`,
    [account.id],
  )
  return rows
}

async function transfersOf(...ids: string[]): Promise<number> {
  return (await owner.query('select from transfers where id = any ($1)', [ids])).rowCount ?? 0
}

t.test(
  'a payment is debited from the payer’s account and credited to the merchant’s, with the same reference',
  async (t) => {
    const payeeId = await addPayee(owner)
    const { account } = await addCustomer(service, { name: 'Ada Payer' })
    const first = await approved({ payeeId, amount: '12.3400', remittanceReference: 'Order 7' }, account.number)
    t.match(await execute(first), { outcome: 'executed', bankReference: /^MB/ })
    const second = await approved({ payeeId, amount: '0.0100' }, account.id)
    t.match(await execute(second), { outcome: 'executed' })
    t.equal(await balance(account), 98_765n)
    const shop = await settlementOf(payeeId)
    t.match(shop, { number: /^000075\d{8}$/, customer: `merchant-${payeeId}` })
    t.equal(await balance(shop), 1_235n)
    t.same((await statementOf(account)).slice(1), [
      { side: 'Debit', amount: '1234', balance: '98766', name: 'Corner Shop', reference: 'Order 7' },
      { side: 'Debit', amount: '1', balance: '98765', name: 'Corner Shop', reference: second.endToEndId },
    ])
    t.same(await statementOf(shop), [
      { side: 'Credit', amount: '1234', balance: '1234', name: 'Ada Payer', reference: 'Order 7' },
      { side: 'Credit', amount: '1', balance: '1235', name: 'Ada Payer', reference: second.endToEndId },
    ])
  },
)

t.test('a payer at another bank brings money in, and a cancelled payment moves none', async (t) => {
  const payeeId = await addPayee(owner)
  const { account } = await addCustomer(service)
  t.match(await execute(await approved({ payeeId, currency: 'EUR' })), { outcome: 'executed' })
  t.equal(await balance(await settlementOf(payeeId, 'EUR')), 5_000n)
  const cancelled = consentRequest({ payeeId })
  await decideOn(bank, cancelled, 'cancel', account.number)
  t.match(await execute(cancelled), { outcome: 'rejected', failureCode: 'AUTHORISATION_FAILED' })
  t.equal(await balance(account), 100_000n)
})

t.test('the account that the payment names is the one that pays, by any of its numbers', async (t) => {
  const { account } = await addCustomer(service, { accounts: [{ iban: 'GB33BUKB20201555555555' }] })
  const british = await addCustomer(service)
  await owner.query(`update accounts set sort_code_account_number = '60161331926819' where id = $1`, [
    british.account.id,
  ])
  const named: [TestAccount, DebtorAccount][] = [
    [account, { ...GRACE, identification: account.number }],
    [account, { scheme: 'UK.OBIE.IBAN', identification: 'GB33BUKB20201555555555' }],
    [british.account, { scheme: 'UK.OBIE.IBAN', identification: 'GB96SVCB60161331926819' }],
  ]
  for (const [payer, debtorAccount] of named) {
    const before = await balance(payer)
    t.match(await execute(await approved({ debtorAccount })), { outcome: 'executed' })
    t.equal(await balance(payer), before - 5_000n, debtorAccount.identification)
  }
  const same = await approved({ debtorAccount: { ...GRACE, identification: account.number } }, account.id)
  t.match(await execute(same), { outcome: 'executed' }, 'the payer may also name it')
  const elsewhere = [
    { ...GRACE, identification: '99999999999999' },
    { scheme: 'UK.OBIE.IBAN', identification: 'DE89370400440532013000' } as const,
    // The digits of an account of this bank, and another bank's code.
    { scheme: 'UK.OBIE.IBAN', identification: 'GB29NWBK60161331926819' } as const,
    { scheme: 'UK.OBIE.IBAN', identification: 'GB00NOTANIBAN00' } as const,
  ]
  for (const debtorAccount of elsewhere) {
    t.match(
      await execute(await approved({ debtorAccount })),
      { outcome: 'executed' },
      'from an account at another bank',
    )
    const { account: other } = await addCustomer(service)
    t.match(await execute(await approved({ debtorAccount }, other.number)), { outcome: 'executed' })
    t.equal(await balance(other), 95_000n, 'or from the account that the payer chooses')
  }
})

t.test('an account that can’t pay is rejected before any decision', async (t) => {
  const payeeId = await addPayee(owner)
  await execute(await approved({ payeeId }))
  const shop = await settlementOf(payeeId)
  const { account, accounts } = await addCustomer(service, {
    accounts: [{}, { currency: 'EUR' }, { status: 'Blocked' }, { status: 'Closed' }],
  })
  const [, euro, blocked, closed] = accounts as [TestAccount, TestAccount, TestAccount, TestAccount]
  const consent = consentRequest({ payeeId })
  const request = bank.readRequest(stage(bank, consent).searchParams.get('request') ?? '')
  if (request === undefined) throw new Error('not readable')
  const named = { ...request, state: 'named', debtorAccount: { ...GRACE, identification: account.number } }
  const nowhere = { ...named, state: 'nowhere', debtorAccount: { ...GRACE, identification: '00-00-75 99999999' } }
  const wrong: [MockBankRequest, string, RegExp][] = [
    [request, '99999999999999', /no such account/],
    [request, randomUUID(), /no such account/],
    [request, "' or true --", /no such account/],
    [request, '0', /no such account/],
    [request, euro.number, /is in EUR, and the payment in GBP/],
    [request, blocked.id, /is blocked/],
    [request, closed.number, /is closed/],
    [request, shop.number, /settlement account/],
    [named, shop.id, /names another debtor account/],
    [named, '99999999999999', /no such account/],
    [nowhere, account.number, /names another debtor account/],
    [nowhere, '00007599999999', /no such account/],
  ]
  for (const [each, chosen, problem] of wrong)
    t.match(await bank.decide(each, 'approve', chosen), { returns: 'account-refused', problem }, chosen)
  const { rowCount } = await owner.query('select from mock_bank.authorisations where state in ($1, $2, $3)', [
    consent.state,
    'named',
    'nowhere',
  ])
  t.equal(rowCount, 0)
  const code = await decideOn(bank, consent, 'approve', account.number)
  t.ok(code, 'the choice is still open')
  for (const later of ['99999999999999', euro.id, undefined])
    t.equal(await decideOn(bank, consent, 'approve', later), code, 'then it is fixed, whichever account is named')
  await execute(consent)
  t.equal(await balance(account), 95_000n)
})

t.test("a payment that names a merchant's settlement account takes nothing from it", async (t) => {
  const [payeeId, thief] = [await addPayee(owner), await addPayee(owner)]
  await execute(await approved({ payeeId }))
  const shop = await settlementOf(payeeId)
  for (const payee of [thief, payeeId]) {
    const consent = await approved({ payeeId: payee, debtorAccount: { ...GRACE, identification: shop.number } })
    t.same(await execute(consent), { outcome: 'rejected', failureCode: 'INVALID_DEBTOR_ACCOUNT' })
  }
  t.equal(await balance(shop), 5_000n)
})

t.test('a payment without funds fails, and a repeat gets the same answer once there are funds', async (t) => {
  const payeeId = await addPayee(owner)
  const { account } = await addCustomer(service, { accounts: [{ balance: 5_000n, overdraft: 100n }] })
  const tooMuch = await approved({ payeeId, amount: '51.0100' }, account.number)
  const allOfIt = await approved({ payeeId, amount: '51.0000' }, account.number)
  const refused = { outcome: 'rejected', failureCode: 'INSUFFICIENT_FUNDS' }
  t.same(await execute(tooMuch), refused)
  t.same(await books(pool, tooMuch.endToEndId), { debits: [], credits: [] })
  t.equal(await transfersOf(tooMuch.paymentId), 0)
  t.match(await execute(allOfIt), { outcome: 'executed' })
  t.equal(await balance(account), -100n)
  await give(allOfIt)
  await owner.query(`select book_transfer($1, null, $2, 100000, 'GBP', null, null, null)`, [randomUUID(), account.id])
  for (const twin of await Promise.all(Array.from({ length: 10 }, () => execute(tooMuch)))) t.same(twin, refused)
  t.equal(await balance(account), 105_000n)
  t.same(await give(tooMuch), { outcome: 'refused', failureCode: 'BANK_ERROR' }, 'nor is it refunded')
})

t.test('the state of the accounts when money moves decides, and each refusal has its code', async (t) => {
  const payeeId = await addPayee(owner)
  const { accounts } = await addCustomer(service, { accounts: [{}, {}, {}, { currency: 'EUR' }] })
  const [blocked, closed, good, euro] = accounts as [TestAccount, TestAccount, TestAccount, TestAccount]
  const naming = (account: TestAccount) => ({ payeeId, debtorAccount: { ...GRACE, identification: account.number } })
  await execute(await approved({ payeeId }))
  const shop = await settlementOf(payeeId)
  const nobodys: DebtorAccount[] = [
    { ...GRACE, identification: '00007599999999' },
    { ...GRACE, identification: '00-00-75 99999999' },
    { scheme: 'UK.OBIE.IBAN', identification: 'GB63 SVCB 0000 7599 9999 99' },
  ]
  const refusals: [ConsentRequest, string][] = [
    [await approved({ payeeId }, blocked.number), 'ACCOUNT_BLOCKED'],
    [await approved({ payeeId }, closed.number), 'ACCOUNT_CLOSED'],
    [await approved(naming(euro)), 'INVALID_DEBTOR_ACCOUNT'],
    [await approved(naming(shop)), 'INVALID_DEBTOR_ACCOUNT'],
    ...(await Promise.all(
      nobodys.map(async (each): Promise<[ConsentRequest, string]> => [
        await approved({ payeeId, debtorAccount: each }),
        'INVALID_DEBTOR_ACCOUNT',
      ]),
    )),
    [await approved({ payeeId, amount: '1.0050' }, good.number), 'BANK_ERROR'],
  ]
  await setStatus(blocked, 'Blocked')
  await setStatus(closed, 'Closed')
  for (const [consent, failureCode] of refusals)
    t.same(await execute(consent), { outcome: 'rejected', failureCode }, failureCode)
  await setStatus(shop, 'Closed')
  refusals.push([await approved({ payeeId }, good.number), 'INVALID_CREDITOR_ACCOUNT'])
  t.same(await execute(refusals.at(-1)![0]), { outcome: 'rejected', failureCode: 'INVALID_CREDITOR_ACCOUNT' })
  for (const account of [blocked, closed, shop]) await setStatus(account, 'Enabled')
  for (const [consent, failureCode] of refusals) {
    t.same(await execute(consent), { outcome: 'rejected', failureCode }, `${failureCode}, again`)
    t.same(await books(pool, consent.endToEndId), { debits: [], credits: [] })
  }
  t.equal(await transfersOf(...refusals.map(([{ paymentId }]) => paymentId)), 0)
  for (const account of [blocked, closed, good, euro]) t.equal(await balance(account), 100_000n)
  t.equal(await balance(shop), 5_000n)
})

t.test('a failing scenario fails before any money or account is checked', async (t) => {
  const payeeId = await addPayee(owner)
  const { account } = await addCustomer(service)
  for (const scenario of ['insufficient-funds', 'fraud-stop', 'settlement-fails']) {
    const consent = await approved({ payeeId, scenario }, account.number)
    t.match(await execute(consent), { outcome: 'rejected' })
    t.equal((await owner.query('select from mock_bank.refusals where id = $1', [consent.paymentId])).rowCount, 0)
  }
  t.equal(await balance(account), 100_000n)
  await t.rejects(settlementOf(payeeId), 'no account was opened')
})

t.test('refunds go back the way the money came, in part and in full, and no further', async (t) => {
  const payeeId = await addPayee(owner)
  const { account } = await addCustomer(service)
  const consent = await approved({ payeeId }, account.number)
  await execute(consent)
  const shop = await settlementOf(payeeId)
  const part = refundOf(consent, { amount: '20.0000' })
  for (const twin of await Promise.all(Array.from({ length: 20 }, () => bank.refund(part, patience()))))
    t.match(twin, { outcome: 'executed' })
  t.same([await balance(account), await balance(shop)], [97_000n, 3_000n])
  t.same(await give(consent, '30.0100'), { outcome: 'refused', failureCode: 'LIMIT_EXCEEDED' })
  t.same(await give(consent, '0.0050'), { outcome: 'refused', failureCode: 'BANK_ERROR' })
  t.match(await give(consent, '30.0000'), { outcome: 'executed' })
  t.same([await balance(account), await balance(shop)], [100_000n, 0n])
  t.match((await statementOf(account)).at(-1), { side: 'Credit', amount: '3000', name: 'Corner Shop' })
  const elsewhere = await approved({ payeeId })
  await execute(elsewhere)
  t.match(await give(elsewhere), { outcome: 'executed' })
  t.equal(await balance(shop), 0n, 'money from another bank returns there')
})

t.test('a refund that can’t be booked fails for good, and the money stays where it is', async (t) => {
  const payeeId = await addPayee(owner)
  const { accounts } = await addCustomer(service, { accounts: [{}, {}, {}] })
  const [closed, other, third] = accounts as [TestAccount, TestAccount, TestAccount]
  const paid = async (account: TestAccount) => {
    const consent = await approved({ payeeId }, account.number)
    await execute(consent)
    return consent
  }
  const toClosed = await paid(closed)
  const toOther = await paid(other)
  const toThird = await paid(third)
  const shop = await settlementOf(payeeId)
  const refused: [ReturnType<typeof refundOf>, string][] = [
    [refundOf(toClosed), 'ACCOUNT_CLOSED'],
    [refundOf(toOther), 'INVALID_CREDITOR_ACCOUNT'],
    [refundOf(toThird), 'INSUFFICIENT_FUNDS'],
  ]
  const ask = async ([order, failureCode]: (typeof refused)[number]) =>
    t.same(await bank.refund(order, patience()), { outcome: 'refused', failureCode }, failureCode)
  const [first, second, last] = refused as [(typeof refused)[0], (typeof refused)[0], (typeof refused)[0]]
  await setStatus(closed, 'Closed')
  await ask(first)
  await setStatus(shop, 'Blocked')
  await ask(second)
  await setStatus(shop, 'Enabled')
  // Everything was paid out, and more than the bank lends.
  await owner.query('update accounts set overdraft_limit_minor = 0 where id = $1', [shop.id])
  await owner.query(`select book_transfer($1, $2, null, 15000, 'GBP', null, null, null)`, [randomUUID(), shop.id])
  await ask(last)
  await owner.query('update accounts set overdraft_limit_minor = 100000000 where id = $1', [shop.id])
  await setStatus(closed, 'Enabled')
  for (const each of refused) await ask(each)
  t.equal(await transfersOf(...refused.map(([{ refundId }]) => refundId)), 0)
  for (const consent of [toClosed, toOther, toThird])
    t.match(await give(consent), { outcome: 'executed' }, 'another refund succeeds within the overdraft')
  t.equal(await balance(shop), -15_000n)
})

t.test('payments staged or debited before the bank had accounts continue without them', async (t) => {
  const { account } = await addCustomer(service)
  const consent = consentRequest({ amount: '50.0050' })
  const request = bank.readRequest(stage(bank, consent).searchParams.get('request') ?? '')
  if (request === undefined) throw new Error('not readable')
  const { payeeId: _, ...members } = request
  const old = bank.readRequest(sealRequest(BANK_SECRET, members))
  if (old === undefined) throw new Error('a request that was signed before is not read')
  t.same(await bank.payingAccounts(old), { named: null, offered: [], failure: null })
  t.match(await bank.decide(old, 'approve', account.number), { returns: 'account-refused' })
  t.match(await bank.decide(old, 'approve'), { returns: 'with-code' })
  t.match(await execute(consent), { outcome: 'executed' })
  const refund = refundOf(consent)
  t.match(await bank.refund(refund, patience()), { outcome: 'executed' })
  t.same(await books(pool, consent.endToEndId), { debits: ['50.0050 GBP'], credits: ['50.0050 GBP'] })
  t.equal(await transfersOf(consent.paymentId, refund.refundId), 0)
})

t.test('fifty twins of one execution move the money once', async (t) => {
  const payeeId = await addPayee(owner)
  const { account } = await addCustomer(service)
  const consent = await approved({ payeeId }, account.number)
  const twins = await Promise.all(Array.from({ length: 50 }, () => execute(consent)))
  t.equal(new Set(twins.map((twin) => JSON.stringify(twin))).size, 1)
  t.match(twins[0], { outcome: 'executed' })
  t.same([await balance(account), await balance(await settlementOf(payeeId))], [95_000n, 5_000n])
})

t.test('forty payments at once from an account that has the money for seven', async (t) => {
  const payeeId = await addPayee(owner)
  const { account } = await addCustomer(service, { accounts: [{ balance: 35_499n }] })
  const consents = await Promise.all(Array.from({ length: 40 }, () => approved({ payeeId }, account.number)))
  const outcomes = await Promise.all(consents.map((consent) => execute(consent)))
  t.equal(outcomes.filter(({ outcome }) => outcome === 'executed').length, 7)
  t.same([await balance(account), await balance(await settlementOf(payeeId))], [499n, 35_000n])
})

t.test('payments and refunds of two merchants and their payers, all at once, wait in no ring', async (t) => {
  const payees = [await addPayee(owner), await addPayee(owner)] as const
  const { accounts } = await addCustomer(service, { accounts: [{}, {}, { currency: 'EUR' }] })
  const choices = Array.from({ length: 64 }, (_, index) => ({
    payeeId: payees[index % 2] ?? '',
    account: accounts[index % 3],
    amount: '1.0000',
  }))
  const consents = await Promise.all(
    choices.map(({ account, ...over }) => approved({ ...over, currency: account?.currency ?? '' }, account?.id)),
  )
  const outcomes = await Promise.all(
    consents.map(async (consent, index) => {
      const paid = await execute(consent)
      return index % 2 === 0 ? [paid] : [paid, await give(consent)]
    }),
  )
  t.same([...new Set(outcomes.flat().map(({ outcome }) => outcome))], ['executed'])
  for (const payee of payees) {
    await settlementOf(payee, 'GBP')
    await settlementOf(payee, 'EUR')
  }
  t.equal(outcomes.flat().length, 96, 'each merchant has one account for each currency')
})

t.test(
  'a bank that dies while it waits for an account has moved nothing, and moves it once when asked again',
  async (t) => {
    const payeeId = await addPayee(owner)
    const { account } = await addCustomer(service)
    await execute(await approved({ payeeId }))
    const consent = await approved({ payeeId }, account.number)
    await owner.query('begin')
    await owner.query('select from accounts where id = $1 for update', [account.id])
    const dying = t.rejects(execute(consent))
    await until(async () => {
      await owner.query('select pg_stat_clear_snapshot()')
      const { rowCount } = await owner.query(
        `select pg_terminate_backend(pid) from pg_stat_activity
       where datname = current_database() and wait_event_type = 'Lock' and query like '%take_money%'`,
      )
      return rowCount === 1
    })
    await dying
    await owner.query('rollback')
    t.same(await books(pool, consent.endToEndId), { debits: [], credits: [] })
    t.equal(await balance(account), 100_000n)
    for (const _ of [1, 2]) t.match(await execute(consent), { outcome: 'executed' })
    t.equal(await balance(account), 95_000n)
  },
)

t.test('a settlement account gets a free number, and a name of at most 140 characters', async (t) => {
  const ids = makeIds()
  const draws = [0.5, 0.5, 0.5, 0.25]
  const drawing = { ...ids, random: () => draws.shift() ?? ids.random() }
  const open = async (currency: string, name: string) =>
    settlementAccountOf({ pool, ids: drawing }, { merchantId, name, currency })
  const merchantId = await addPayee(owner)
  const first = await open('GBP', 'ä'.repeat(141))
  t.not(await open('EUR', 'x'), first)
  t.equal(await open('GBP', 'another name'), first, 'it is opened once')
  t.equal((await settlementOf(merchantId, 'GBP')).number, '00007550000000')
  t.equal((await settlementOf(merchantId, 'EUR')).number, '00007525000000')
  const { rows } = await owner.query('select name, overdraft_limit_minor::text as lent from accounts where id = $1', [
    first,
  ])
  t.same(rows, [{ name: 'ä'.repeat(140), lent: '100000000' }])
})

t.test('after all of it no money was made or lost', async (t) => {
  const broken = await brokenInvariants(owner)
  t.same(
    broken.filter((name) => name.startsWith('I9')),
    [],
  )
})
