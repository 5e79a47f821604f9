import t from 'tap'
import { createPayouts } from '../../src/payouts/create-payouts.ts'
import { ownAccounts } from '../../src/statements/own-accounts.ts'
import type { Answer } from '../support/app.ts'
import { testService } from '../support/app.ts'
import { britishFile } from '../support/bank-files.ts'
import { PAYER_ACCOUNT, fileBank, fileRefunds } from '../support/file-refunds.ts'
import { refund, settledPayment } from '../support/payments.ts'
import { readInstructions, statementOf } from '../support/payout-bank.ts'
import { payableMerchant, payoutsOf } from '../support/payouts.ts'
import { countRows } from '../support/rows.ts'

const COLLECTING = 'GB33BUKB20201555555555'
const ANOTHER = 'FI2112345600000785'
/** A number that only its bank knows, and the account that pays as a bank without sort codes writes it. */
const LOCAL = '19-2000145399/0800'
const SHORT = '12345678'
const PAYING = 'GB83BUKB20000012345678'
const MERCHANTS = 'GB12BUKB20201512349999'

const { bank, options } = fileBank()
const service = await testService(t, {
  ...options,
  env: {
    ...options.env,
    SVC_COLLECTION_ACCOUNT: 'UK.OBIE.SortCodeAccountNumber:20-20-15 55555555:Collections Ltd',
    SVC_STATEMENT_ACCOUNTS: `${ANOTHER},${LOCAL},${SHORT}=20-00-00 12345678`,
  },
})
const { app, owner } = service
const { exported, payment, post, refundsOf, shop } = await fileRefunds(service, bank)

const statuses = async (merchant: { id: string }) => (await payoutsOf(service, merchant)).map(({ status }) => status)

/** A payout that a file took to the bank, and the line that its payee's bank has of it. */
async function sentPayout() {
  const merchant = await payableMerchant(service)
  await createPayouts(app)
  const { body } = await post('payout-files')
  const [sent] = readInstructions(body.file.content).payments
  if (sent === undefined) throw new Error('there is no payout')
  return { merchant, sent, credit: { amount: sent.amount, e2e: sent.endToEndId, ref: sent.endToEndId.slice(-8) } }
}

const CSV = {
  currency: 'GBP',
  date_format: 'YYYY-MM-DD',
  columns: { date: 'day', amount: 'amount', end_to_end_id: 'id', reference: 'text' },
}

function csvOf(account: string, { amount, id, text = '' }: { amount: string; id: string; text?: string }): object {
  const day = new Date().toISOString().slice(0, 10)
  return { content: `day,amount,id,text\n${day},${amount},${id},${text}\n`, csv: { ...CSV, account } }
}

const endOfError = ({ body }: Answer): string => body.errors[0].message

t.test("a statement of the merchant's account brings no payout back", async (t) => {
  const { merchant, sent, credit } = await sentPayout()
  const before = await countRows(owner)
  const camt = await post('statements', { content: britishFile([credit], { account: MERCHANTS }) })
  t.match(camt, {
    status: 400,
    body: { code: 'VALIDATION_FAILED', errors: [{ path: 'content', code: 'UNKNOWN_ACCOUNT' }] },
  })
  t.equal(
    endOfError(camt),
    'statement "STMT-1": the account that ends in 9999 is not an account of this service (these end in 5678, 5555, 0785, 0800): ' +
      'check the file, or add the account as its bank writes it to SVC_STATEMENT_ACCOUNTS',
  )
  const csv = await post('statements', csvOf('20-20-15 12349999', { amount: sent.amount, id: sent.endToEndId }))
  t.match(csv, { status: 400, body: { errors: [{ path: 'csv.account', code: 'UNKNOWN_ACCOUNT' }] } })
  t.match(endOfError(csv), /^is not an account of this service/)
  t.notMatch(csv.text, /20201512349999|20201555555555/, 'no number is shown in full')
  const both = statementOf([sent]).replace(
    '</BkToCstmrStmt>',
    (/<Stmt>[^]*<\/Stmt>/.exec(britishFile([credit], { id: 'THEIRS', account: MERCHANTS })) ?? [''])[0] +
      '</BkToCstmrStmt>',
  )
  t.match(await post('statements', { content: both }), { status: 400 }, 'nor beside one of ours')
  t.same(await countRows(owner), before)
  t.same(await statuses(merchant), ['SENT'])
  await post('statements', { content: statementOf([sent]) })
  t.same(await statuses(merchant), ['PAID'])
})

t.test('a payout, and a refund by file, is on no other account than one that pays', async (t) => {
  const { merchant, sent, credit } = await sentPayout()
  const other = await sentPayout()
  const elsewhere = [credit, { ...other.credit, direction: 'DBIT' as const, ref: 'D1' }]
  t.match(await post('statements', { content: britishFile(elsewhere, { account: COLLECTING }) }), {
    status: 200,
    body: { new_line_count: 2, matched_line_count: 0 },
  })
  t.same([await statuses(merchant), await statuses(other.merchant)], [['SENT'], ['SENT']])
  t.match(await post('statements', { content: statementOf([sent], [credit]) }), { body: { matched_line_count: 2 } })
  t.same(await statuses(merchant), ['RETURNED'])

  const id = await payment(PAYER_ACCOUNT)
  await refund(service, shop, { id, body: { amount: '20.00' } })
  const { file } = await exported()
  const returned = file.payments.map(({ amount, endToEndId }) => ({ amount, e2e: endToEndId, ref: 'R1' }))
  t.match(await post('statements', { content: britishFile(returned, { id: 'PAYER', account: COLLECTING }) }), {
    status: 200,
    body: { matched_line_count: 0, returned_refund_count: 0 },
  })
  t.match(await refundsOf(id), [{ refund_status: 'PENDING' }])
  const left = returned.map((line) => ({ ...line, direction: 'DBIT' as const, ref: 'R2' }))
  await post('statements', { content: britishFile(left, { id: 'LEFT', account: COLLECTING }) })
  const [{ refund_id: refundId }] = await refundsOf(id)
  const headers = await service.operator('OPS')
  const { body } = await service.call('GET', '/api/v1/admin/reconciliation', { headers })
  t.match(
    body.differences.filter(({ payment_id }: { payment_id: string }) => payment_id === id),
    [
      {
        kind: 'STATEMENT_DEBIT_KNOWN',
        cause: new RegExp(`it is refund ${refundId}, .* --payment ${id} --refund ${refundId}$`),
      },
      {
        kind: 'STATEMENT_CREDIT_KNOWN',
        cause: new RegExp(`it is the return of refund ${refundId}, .* --payment ${id} --refund ${refundId}$`),
      },
    ],
  )
  await post('statements', { content: statementOf(file.payments) })
  t.match(await refundsOf(id), [{ refund_status: 'EXECUTED' }])
})

t.test('payments are matched on every account of ours, and one account in two spellings is one', async (t) => {
  const pay = async (amount: string) => {
    const id = await settledPayment(service, shop, { amount })
    const { rows } = await owner.query('select end_to_end_id from payment_intents where id = $1', [id])
    return { amount, id: rows[0].end_to_end_id }
  }
  const line = await pay('61.00')
  t.match(await post('statements', csvOf(COLLECTING, line)), {
    body: { statements: [{ account: '20201555555555' }], new_line_count: 1, matched_line_count: 1 },
  })
  for (const account of ['20-20-15 55555555', '20201555555555', 'gb33 bukb 2020 1555 5555 55'])
    t.match(
      await post('statements', {
        ...csvOf(account, line),
        content: `${Reflect.get(csvOf(account, line), 'content')}\n`,
      }),
      {
        status: 200,
        body: { new_line_count: 0 },
      },
    )
  t.match(await post('statements', csvOf(ANOTHER, await pay('62.00'))), { body: { matched_line_count: 1 } })
})

t.test('live mode takes no statement before an account is named, a sandbox takes any', async (t) => {
  const none = {
    payoutAccounts: new Map<string, string>(),
    collectionAccount: undefined,
    statementAccounts: new Map<string, string>(),
  }
  t.same(ownAccounts({ ...none, mode: 'sandbox' }), { all: undefined, paying: undefined })
  t.same(ownAccounts({ ...none, mode: 'live' }), { all: new Set(), paying: new Set() })
  const statementAccounts = new Map([['20201555555555', '20201555555555']])
  const named = new Set(statementAccounts.keys())
  t.same(ownAccounts({ ...none, statementAccounts, mode: 'sandbox' }), { all: named, paying: undefined })
  t.same(ownAccounts({ ...none, statementAccounts, mode: 'live' }), { all: named, paying: new Set() })
  const payoutAccounts = new Map([['EUR', COLLECTING]])
  t.same(ownAccounts({ ...none, payoutAccounts, mode: 'sandbox' }), { all: named, paying: named })
})

t.test('an account in the form of its bank is named as that bank writes it', async (t) => {
  const camtOf = (account: string, lines: Parameters<typeof britishFile>[0]) =>
    britishFile(lines, { id: `OF-${account}`, account }).replace(
      /<Acct>.*<\/Acct>/,
      `<Acct><Id><Othr><Id>${account}</Id></Othr></Id></Acct>`,
    )
  const charge = { amount: '1.00', direction: 'DBIT' as const, ref: 'CHARGE', text: 'CHARGES' }
  for (const account of [LOCAL, '192000145399/0800', '19 2000145399/0800'])
    t.match(await post('statements', { content: camtOf(account, [charge]) }), {
      status: 200,
      body: { statements: [{ account: '192000145399/0800' }] },
    })

  const { merchant, credit } = await sentPayout()
  const left = { ...credit, direction: 'DBIT' as const, ref: 'SHORT' }
  t.match(await post('statements', { content: camtOf(SHORT, [left]) }), {
    body: { statements: [{ account: '20000012345678' }], matched_line_count: 1 },
  })
  t.same(await statuses(merchant), ['PAID'], 'it is the account that pays')
  t.match(await post('statements', { content: britishFile([left], { id: 'LONG', account: PAYING }) }), {
    status: 200,
    body: { new_line_count: 0, known_line_count: 1 },
  })

  const refused = await post('statements', { content: camtOf('55555555', [charge]) })
  t.match(refused, { status: 400, body: { errors: [{ path: 'content', code: 'UNKNOWN_ACCOUNT' }] } })
  t.equal(
    endOfError(refused),
    'statement "OF-55555555": the account that ends in 5555 is another one than the account of this service that ends so too, ' +
      'or is written in another form: check the file, or add the account as its bank writes it to SVC_STATEMENT_ACCOUNTS',
  )
})
