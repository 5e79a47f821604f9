import { readFileSync, statSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import t from 'tap'
import { createPayouts } from '../../src/payouts/create-payouts.ts'
import { PAYER_IBAN, fileBank, fileRefunds } from '../support/file-refunds.ts'
import { refund } from '../support/payments.ts'
import { answerTo, readInstructions, statementOf } from '../support/payout-bank.ts'
import { payableMerchant, payoutsOf } from '../support/payouts.ts'
import { provesLeaves } from './ran.ts'
import { realService } from './real-service.ts'

const { bank, options } = fileBank()
const service = await realService(t, options)
const { payment, shop } = await fileRefunds(service, bank)

t.test('payouts are exported, taken back where the bank rejects them, and paid by its statement', async (t) => {
  const cwd = t.testdir({ 'there.xml': 'last month' })
  const run = (...words: string[]) => service.operate(['payouts', ...words], { cwd })
  t.match(JSON.parse((await run('export', '--file', 'none.xml', '--json', '--dry-run')).stdout), { dry_run: true })
  t.match(await run('export', '--file', 'none.xml'), { code: 0, stdout: /none: no payout or refund waits/ })
  const merchants = [await payableMerchant(service), await payableMerchant(service)]
  await createPayouts(service.app)
  t.match(await run('export', '--file', 'there.xml'), { code: 2, stderr: /there\.xml is there already/ })
  t.match(await run('export', '--file', 'dry.xml', '--dry-run'), { code: 0, stderr: /Nothing was changed/ })
  t.throws(() => statSync(join(cwd, 'dry.xml')))
  const done = await run('export', '--file', 'payouts.xml')
  t.match(done, { code: 0, stdout: /Payouts +2\n[^]*Control sum +98\.60/, stderr: /--again [0-9a-f-]{36} --file/ })
  const content = readFileSync(join(cwd, 'payouts.xml'), 'utf8')
  t.equal(statSync(join(cwd, 'payouts.xml')).mode & 0o777, 0o600)
  const { messageId, payments } = readInstructions(content)

  t.match(JSON.parse((await run('export', '--file', 'more.xml', '--json')).stdout), { file: null })
  const id = (await run('files', '-o', 'id')).stdout.trim()
  t.match(await run('export', '--again', id, '--file', '-'), { code: 0, stdout: content })
  t.match(await run('export', '--again', messageId, '--file', 'x.xml'), { code: 6 })
  t.match(await run('files'), { stdout: /98\.60/ })

  const [kept = '', rejected = ''] = payments.map(({ endToEndId }) => endToEndId)
  writeFileSync(join(cwd, 'answer.xml'), answerTo(messageId, { [kept]: 'ACSP', [rejected]: 'RJCT AC04' }))
  t.match(await run('import', 'answer.xml', '--dry-run'), { code: 0, stderr: /Nothing was changed/ })
  t.match(await run('import', 'answer.xml'), {
    code: 0,
    stdout: /Failed now +1\n[^]*Accepted +1\n[^]*49\.30 +GBP +ACCOUNT_CLOSED +AC04/,
  })
  t.match(JSON.parse((await run('import', 'answer.xml', '--json')).stdout), { rejected: [], rejected_count: 1 })
  const whole = '<GrpSts>RJCT</GrpSts><StsRsnInf><Rsn><Cd>FF01</Cd></Rsn></StsRsnInf>'
  writeFileSync(join(cwd, 'whole.xml'), answerTo(messageId, {}, whole))
  t.match(await run('import', 'whole.xml'), {
    code: 0,
    stdout: /Failed now +0\n[^]*Doubtful +1\n/,
    stderr: /None of the doubtful payments has failed yet[^]*--confirm-rejection/,
  })
  t.match(await run('import', 'whole.xml', '--confirm-rejection', '--dry-run'), {
    code: 0,
    stderr: /Nothing was changed/,
  })
  t.match(await run('import', 'none.xml'), { code: 2, stderr: /can't read none\.xml/ })
  writeFileSync(join(cwd, 'bank.xml'), statementOf(payments.slice(0, 1)))
  t.match(await service.operate(['statements', 'import', 'bank.xml'], { cwd }), { stderr: /1 matched now/ })
  const statuses = await Promise.all(merchants.map(async (merchant) => (await payoutsOf(service, merchant))[0]?.status))
  t.same(statuses.toSorted(), ['FAILED', 'PAID'])
})

t.test('what the bank says on the phone ends a payout that it has not made', async (t) => {
  const cwd = t.testdir({})
  const run = (...words: string[]) => service.operate(['payouts', ...words], { cwd })
  const merchant = await payableMerchant(service)
  await createPayouts(service.app)
  const [created] = await payoutsOf(service, merchant)
  t.match(await run('fail', created?.id ?? '', '--reason', 'on the phone', '--yes'), {
    code: 7,
    stderr: `cancel it: svc payouts fail ${created?.id} --code CANCELLED_BY_PLATFORM`,
  })
  await run('export', '--file', 'payouts.xml')
  const [sent] = await payoutsOf(service, merchant)
  const id = sent?.id ?? ''
  const said = ['--code', 'ACCOUNT_CLOSED', '--reason', 'on the phone']
  t.match(await run('fail', id, '--dry-run', ...said), {
    code: 0,
    stdout: /the bank has not made the payout of 49\.30 GBP/,
  })
  t.match(await run('fail', id, '--code', 'TOO_LATE', '--reason', 'x'), { code: 2, stderr: /--code/ })
  t.match(JSON.parse((await run('fail', id.slice(-8), ...said, '--json')).stdout), {
    payout_id: id,
    status: 'FAILED',
    failure: { code: 'ACCOUNT_CLOSED' },
  })
  t.match(await run('fail', id, ...said), { code: 7, stderr: /the payout is FAILED; only one that is SENT/ })
  const cancelled = ['--code', 'CANCELLED_BY_PLATFORM', '--reason', 'to the new account']
  t.match(await run('fail', id, ...cancelled), { code: 7, stderr: /only one that is CREATED/ })
  const other = await payableMerchant(service)
  await createPayouts(service.app)
  const [waiting] = await payoutsOf(service, other)
  t.match(await run('fail', waiting?.id ?? '', '--dry-run', ...cancelled), {
    stdout: /cancel the payout of 49\.30 GBP/,
  })
  t.match(await run('fail', waiting?.id ?? '', ...cancelled), { code: 0 })
})

t.test('refunds go with the same commands, and each says what became of them', async (t) => {
  const cwd = t.testdir({})
  const run = (...words: string[]) => service.operate(words, { cwd })
  const [kept, rejected, euros] = [await payment(), await payment(), await payment(PAYER_IBAN, { currency: 'EUR' })]
  for (const id of [kept, rejected, euros]) await refund(service, shop, { id, body: { amount: '20.00' } })
  const refundsOf = async (id: string) => (await service.as(shop, ['payments', 'refunds', id])).stdout
  t.match(await refundsOf(kept), /PENDING +20\.00 +GBP/)
  t.match(await run('payouts', 'export', '--file', 'refunds.xml'), {
    code: 0,
    stdout: /Payouts +0\nRefunds +2\nControl sum +40\.00/,
    stderr: /refund [0-9a-f-]{36} is left out: SVC_PAYOUT_ACCOUNTS has no account for its currency/,
  })
  t.match(await run('statements', 'missing'), { stdout: /refund +[\w-]+ +-20\.00 +GBP/ })
  const { messageId, payments } = readInstructions(readFileSync(join(cwd, 'refunds.xml'), 'utf8'))
  const { rows } = await service.owner.query<{ end_to_end_id: string }>(
    'select end_to_end_id from payment_refunds where payment_intent_id = $1',
    [rejected],
  )
  const endToEndId = rows[0]?.end_to_end_id ?? ''
  writeFileSync(join(cwd, 'answer.xml'), answerTo(messageId, { [endToEndId]: 'RJCT AC04' }))
  t.match(await run('payouts', 'import', 'answer.xml'), {
    code: 0,
    stdout: /Failed now +1\n[^]*refund +[\w-]+ +[\w-]+ +20\.00 +GBP +ACCOUNT_CLOSED +AC04/,
  })
  t.match(await refundsOf(rejected), /FAILED +20\.00 +GBP[^\n]*ACCOUNT_CLOSED/)
  writeFileSync(join(cwd, 'bank.xml'), statementOf(payments.filter((each) => each.endToEndId !== endToEndId)))
  t.match(await run('statements', 'import', 'bank.xml'), { stderr: /1 matched now/ })
  t.match(await refundsOf(kept), /EXECUTED +20\.00 +GBP/)
  t.match(await run('explain', kept), { stdout: /a file took the refund of 20\.00 GBP/ })
})

t.test('a refund that came back is a task, until it is credited', async (t) => {
  const cwd = t.testdir({})
  const run = (...words: string[]) => service.operate(words, { cwd })
  const id = await payment()
  await refund(service, shop, { id, body: { amount: '20.00' } })
  await run('payouts', 'export', '--file', 'refunds.xml')
  const { payments } = readInstructions(readFileSync(join(cwd, 'refunds.xml'), 'utf8'))
  const returned = { amount: '20.00', direction: 'CRDT', e2e: payments[0]?.endToEndId ?? '', ref: 'BACK' } as const
  writeFileSync(join(cwd, 'bank.xml'), statementOf(payments, [returned]))
  t.match(await run('statements', 'import', 'bank.xml'), { stderr: /1 came back as returned refunds: svc inbox/ })
  const [, line = ''] = /svc statements credit ([0-9a-f-]{36})/.exec((await run('inbox')).stdout) ?? []
  t.match(await run('reconcile', '--fail-on-diff'), { code: 3, stdout: /REFUND_RETURN +Acme/ })
  const why = ['--reason', 'the account is closed']
  t.match(await run('statements', 'credit', line, ...why, '--dry-run'), { code: 0, stderr: /Nothing was changed/ })
  t.match(JSON.parse((await run('statements', 'credit', line, ...why, '--json')).stdout), {
    amount: '20.00',
    booked_against: 'BANK',
  })
  t.match(await run('statements', 'credit', line, ...why), { code: 7, stderr: /credited already[^]*svc inbox/ })
  t.match(await run('statements', 'credit', 'nothing', ...why), { code: 6 })
  t.notMatch((await run('inbox')).stdout, /returned a refund/)
  t.match(await run('explain', id), { stdout: /the bank returned the refund of 20\.00 GBP/ })
})

t.test('what the bank says on the phone ends a refund, too', async (t) => {
  const cwd = t.testdir({})
  const run = (...words: string[]) => service.operate(['payouts', ...words], { cwd })
  const id = await payment()
  const { body, text } = await refund(service, shop, { id })
  t.ok(body.refund_id, text)
  const said = ['--code', 'ACCOUNT_CLOSED', '--reason', 'on the phone']
  t.match(await run('fail-refund', body.refund_id, ...said), { code: 7, stderr: /no file has taken the refund/ })
  await run('export', '--file', 'refunds.xml')
  t.match(await run('fail-refund', body.refund_id, ...said, '--dry-run'), { code: 0, stderr: /Nothing was changed/ })
  t.match(JSON.parse((await run('fail-refund', body.refund_id, ...said, '--json')).stdout), {
    refund_status: 'FAILED',
    failure: { code: 'ACCOUNT_CLOSED' },
  })
  t.match(await run('fail-refund', body.refund_id, ...said), { code: 7, stderr: /is FAILED[^]*svc explain/ })
  t.match(await run('fail-refund', 'nothing', ...said), { code: 6 })
})

provesLeaves(t, import.meta.filename)
