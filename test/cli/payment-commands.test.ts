import { existsSync, mkdtempSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import t from 'tap'
import { makeWholeProgram } from '../../cli/entry/program.ts'
import { createPayment } from '../support/app.ts'
import { SCRATCH } from '../support/scratch.ts'
import { until } from '../support/until.ts'
import { makeIo, runCli } from './harness.ts'
import { paidPayment, realService } from './real-service.ts'

const service = await realService(t)
const { as, operate } = service
const merchant = await service.merchant()

/** A payment that waits for its payer. */
async function waitingPayment(): Promise<{ id: string; state: string }> {
  const { body } = await createPayment(service, merchant)
  return { id: body.payment_id, state: new URL(body.redirect_url).searchParams.get('state') ?? '' }
}

t.test('a receipt has what its payer may see, and comes with Settled', async (t) => {
  const id = await paidPayment(service, merchant)
  t.match(await as(merchant, ['payments', 'receipt', id]), {
    code: 0,
    stdout: /^Receipt +\S+\nPaid +\S+ GBP\nSettled /,
  })
  const receipt = JSON.parse((await as(merchant, ['payments', 'receipt', id, '--json'])).stdout)
  t.match(receipt, { payment_id: id, status: 'Settled', refunded_amount: '0.00' })
  t.notOk('fee_amount' in receipt)
  await as(merchant, ['payments', 'refund', id])
  t.match(await as(merchant, ['payments', 'receipt', id]), { code: 0, stdout: /\nRefunded +/ })
  const open = await waitingPayment()
  t.match(await as(merchant, ['payments', 'receipt', open.id]), { code: 7, stderr: /comes with Settled/ })
})

t.test('a dry run is answered by the service, and changes nothing', async (t) => {
  const id = await paidPayment(service, merchant)
  const [dry, refund] = [
    ['--dry-run', '--json'],
    ['payments', 'refund', id],
  ]
  const total = JSON.parse((await as(merchant, ['payments', 'show', id, '--json'])).stdout).gross_amount
  const shown = await as(merchant, [...refund, '--amount', '1.00', '--idempotency-key', 'k', ...dry])
  t.match(JSON.parse(shown.stdout), {
    url: new RegExp(`/payments/${id}/refund$`),
    headers: { 'x-idempotency-key': 'k' },
    body: { amount: '1.00' },
    effect: /^this would refund 1\.00 GBP to [^(]+ \(payment \w{8}\)$/,
  })
  t.match((await as(merchant, [...refund, '--dry-run'])).stdout, `refund all that is left of ${total} GBP to `)
  t.match(await as(merchant, [...refund, '--amount', '9999.00', '--dry-run']), {
    code: 2,
    stdout: '',
    stderr: new RegExp(`only ${total} is left to refund\nTry: svc .*payments refund ${id} --amount ${total}\n`),
  })
  t.match(await as(merchant, [...refund, '--refund-amount-available', '0.01', '--dry-run']), { code: 7, stdout: '' })
  t.match(await as(merchant, ['payments', 'cancel', id, '--dry-run']), { code: 7, stderr: `payments refund ${id}` })
  t.equal((await as(merchant, ['payments', 'refunds', id, '-o', 'id'])).stdout, '')
  const open = await waitingPayment()
  t.match(await as(merchant, ['payments', 'refund', open.id, '--dry-run']), { code: 7, stderr: `show ${open.id}` })
  t.match(await as(merchant, ['payments', 'cancel', open.id, '--dry-run']), {
    code: 0,
    stdout: /Effect +this would cancel payment \w{8} of 50\.00 GBP: its payer/,
  })
  t.equal((await as(merchant, ['payments', 'show', open.id, '-q', 'status'])).stdout, 'AwaitingAuthorisation\n')
  const create = ['payments', 'create', '--amount', '5.00', '--dry-run', '--currency']
  t.match(await as(merchant, [...create, 'CHF']), { code: 2, stdout: '', stderr: /payments in CHF are not offered/ })
  const newest = ['payments', 'list', '--limit', '1', '-o', 'id']
  const before = (await as(merchant, newest)).stdout
  t.match(await as(merchant, [...create, 'gbp']), { code: 0, stdout: /this would create a payment of 5\.00 GBP/ })
  t.equal((await as(merchant, newest)).stdout, before)
})

t.test('a payment is named by its end-to-end id too', async (t) => {
  const { id } = await waitingPayment()
  const { end_to_end_id: name } = JSON.parse((await as(merchant, ['payments', 'show', id, '--json'])).stdout)
  t.equal((await as(merchant, ['payments', 'cancel', name, '-o', 'id'])).stdout, `${id}\n`)
  t.match(await as(merchant, ['payments', 'show', 'SVC0']), { code: 6, stderr: /payments list/ })
})

t.test('events --follow prints each new event, and ends when none can come', async (t) => {
  const { id } = await waitingPayment()
  const follow = ['payments', 'events', id, '--follow', '-o', 'jsonl']
  const following = as(merchant, [...follow, '--timeout', '60s'])
  // It has begun to follow, or has not: either way each event is told once.
  t.equal((await as(merchant, ['payments', 'cancel', id])).code, 0)
  const { code, stdout } = await following
  t.equal(code, 0)
  const told = stdout.trimEnd().split('\n')
  t.same(
    told.map((line) => JSON.parse(line).new_status),
    ['AwaitingAuthorisation', 'Failed'],
  )
  t.match((await as(merchant, ['payments', 'events', id, '--follow'])).stdout, /AwaitingAuthorisation to Failed {2}by /)
  const waiting = await waitingPayment()
  const ended = await as(merchant, ['payments', 'events', waiting.id, '--follow', '--timeout', '1s'])
  t.match(ended, { code: 0, stdout: /^\S+ {2}AwaitingAuthorisation {2}by MERCHANT_API\n$/ })
  t.match(await as(merchant, ['payments', 'events', id, '--timeout', '1s']), { code: 2, stderr: /--follow/ })
})

t.test('sca-complete hands over what the bank sent back, in parts or as the whole address', async (t) => {
  const { id, state } = await waitingPayment()
  const words = ['payments', 'sca-complete', id]
  for (const wrong of [[], ['--state', state], ['--state', state, '--code', 'a', '--error', 'b'], ['--returned', 'x']])
    t.match(await as(merchant, [...words, ...wrong]), { code: 2, stderr: /--returned/ }, wrong.join(' '))
  t.match(await as(merchant, [...words, '--state', 'another', '--code', 'a']), { code: /[57]/ })
  const returned = `https://shop.example/return?${new URLSearchParams({ state, error: 'access_denied' })}`
  t.match(await as(merchant, [...words, '--returned', returned, '--dry-run']), { code: 0, stdout: /Would send/ })
  const done = await as(merchant, [...words, '--returned', returned, '--json'])
  t.match(JSON.parse(done.stdout), { payment_id: id, status: 'Failed' })
})

t.test('create --open opens the page of the bank, and is no failure without a browser', async (t) => {
  const create = ['payments', 'create', '--amount', '5.00', '--currency', 'GBP', '--open']
  const none = await as(merchant, create)
  t.match(none, { code: 0, stderr: /No browser could be opened: the address is above\./ })
  const file = join(mkdtempSync(join(SCRATCH, 'svc-open-')), 'opened')
  t.match(await as(merchant, [...create, '--approve']), { code: 2, stderr: /--open is for a person/ })
  t.equal((await as(merchant, create, { env: { BROWSER: `touch ${file}` } })).code, 0)
  await until('the browser was started', () => existsSync(file))
})

t.test('merchants export writes every merchant that the filter leaves', async (t) => {
  await service.merchant({ kybStatus: 'PENDING' })
  const all = JSON.parse((await operate(['merchants', 'list', '--all', '--json'])).stdout)
  const csv = (await operate(['merchants', 'export'])).stdout
  t.equal(csv.trimEnd().split('\r\n').length, all.length + 1)
  t.match(csv, /^id,client_id,legal_name,/)
  const lines = (await operate(['merchants', 'export', '--status', 'PENDING', '-o', 'jsonl'])).stdout
  t.same(
    lines
      .trimEnd()
      .split('\n')
      .map((line) => JSON.parse(line).kyb_status),
    ['PENDING'],
  )
  const file = join(mkdtempSync(join(SCRATCH, 'svc-export-')), 'merchants.json')
  t.match(await operate(['merchants', 'export', '-o', 'json', '--file', file]), { code: 0, stdout: '' })
  t.same(JSON.parse(readFileSync(file, 'utf8')), all)
  t.match(await operate(['merchants', 'export', '--file', file]), { code: 2, stderr: /there already/ })
  t.match(await operate(['merchants', 'export', '-o', 'yaml']), { code: 2, stderr: /svc merchants list --all -o yaml/ })
})

t.test('list and ls are the same word for every noun, and help shows one of them', async (t) => {
  const id = await paidPayment(service, merchant)
  t.equal((await as(merchant, ['payments', 'ls', '--limit', '1', '-o', 'id'])).stdout, `${id}\n`)
  const help = (await runCli(['payments', '--help'])).stdout
  t.match(help, /\n {2}list /)
  t.notMatch(help, /\|ls/)
  const program = await makeWholeProgram({ io: makeIo({}).io, exitCode: 0 })
  const visit = (command: typeof program): void => {
    const names = command.commands.flatMap((child) => [child.name(), ...child.aliases()])
    t.equal(new Set(names).size, names.length, `${command.name()}: no word is two commands`)
    t.equal(names.includes('list'), names.includes('ls'), command.name())
    for (const child of command.commands) visit(child)
  }
  visit(program)
})
