import { execFileSync, spawn } from 'node:child_process'
import { once } from 'node:events'
import {
  constants,
  existsSync,
  lstatSync,
  mkdtempSync,
  readFileSync,
  readdirSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs'
import { open, readFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import t from 'tap'
import type { Test } from 'tap'
import { Transaction } from '../../src/wire/transactions.ts'
import { createPayment, testService } from '../support/app.ts'
import { settledPayment } from '../support/payments.ts'
import { until } from '../support/until.ts'
import { PAYMENT_ID, fakeService, refusal, runCli } from './harness.ts'
import type { CliSettings } from './harness.ts'
import { cleanEnv, nodeCommand } from './service.ts'

const SOURCE = join(import.meta.dirname, '..', 'support', 'svc-source.ts')
const HEADER = Object.keys(Transaction.shape).join(',')

function lineOf(more: object = {}): Record<string, unknown> {
  return {
    payment_id: PAYMENT_ID,
    created_at: '2026-11-21T09:30:00.000Z',
    settled_at: '2026-11-21T09:31:00.000Z',
    status: 'Settled',
    end_to_end_id: 'SVC62124c9a38e745b680e7e1d27d1ddb32',
    gross_amount: '50.00',
    fee_amount: '0.70',
    net_amount: '49.30',
    refunded_amount: '0.00',
    payout_amount: '49.30',
    currency: 'GBP',
    payer_name: null,
    debtor_bank_id: null,
    remittance_reference: null,
    bank_reference: 'BANK-1',
    failure_code: null,
    ...more,
  }
}

/** A list of so many pages with a hundred lines each; page `broken` fails, and those of `empty` have none. */
async function portal(t: Test, { pages = 1, broken = 0, empty = [] as readonly number[] } = {}) {
  const { url, requests } = await fakeService(t, ({ path }) => {
    const cursor = new URL(path, 'http://x').searchParams.get('cursor')
    const page = cursor === null ? 1 : Number(cursor)
    if (page === broken) return refusal(500, 'INTERNAL_ERROR')
    const isLast = page >= pages
    const rows = Array.from({ length: empty.includes(page) ? 0 : 100 }, (_, index) =>
      lineOf({ remittance_reference: `${page}-${index}` }),
    )
    return { json: { data: rows, has_more: !isLast, next_cursor: isLast ? null : String(page + 1) } }
  })
  const run = (words: string[], settings?: CliSettings) =>
    runCli(['payments', ...words, '--api-url', url, '--client-id', 'demo'], settings)
  return { url, requests, run }
}

function folderOf(t: Test): string {
  const folder = mkdtempSync(join(tmpdir(), 'svc-export-'))
  t.teardown(() => rmSync(folder, { recursive: true, force: true }))
  return folder
}

t.test('list shows what payments brought, with the filters of payments', async (t) => {
  const { run, requests } = await portal(t, { pages: 2 })
  const words = [
    'list',
    '--fees',
    '--status',
    'Settled',
    '--since',
    '2026-11-01',
    '--currency',
    'gbp',
    '--bank-id',
    'mock-red',
  ]
  const { code, stdout, stderr } = await run(words)
  t.equal(code, 0)
  t.match(stdout, /^ID +STATUS +GROSS +FEE +NET +REFUNDED +PAYOUT +CUR/)
  t.match(stdout, /Settled +50\.00 +0\.70 +49\.30 +0\.00 +49\.30 +GBP/)
  t.match(stderr, /There are more: --cursor 2, or --all/)
  const query = new URL(requests[0]?.path ?? '', 'http://x')
  t.equal(query.pathname, '/api/v1/portal/transactions')
  t.same(Object.fromEntries(query.searchParams), {
    limit: '50',
    status: 'Settled',
    from: '2026-11-01T00:00:00.000Z',
    currency: 'GBP',
    bank_id: 'mock-red',
  })
  const all = (await run(['list', '--fees', '--all', '-o', 'csv'])).stdout.split('\n')
  t.equal(all[0], HEADER)
  t.equal(all.length, 202)
  await run(['list', '--since', '2026-11-01', '--until', '2026-12-01'])
  const alike = new URL(requests.at(-1)?.path ?? '', 'http://x').searchParams
  t.same([alike.get('from'), alike.get('to')], ['2026-11-01T00:00:00.000Z', '2026-12-01T00:00:00.000Z'])
  t.match(await run(['list', '--since', 'yesterday']), { code: 2, stderr: /--since: invalid time "yesterday"/ })
})

t.test('a terminal of 80 columns shows fees unbroken', async (t) => {
  const { run } = await portal(t)
  const { stdout } = await run(['list', '--fees', '--color', 'never'], { tty: true })
  for (const line of stdout.split('\n')) t.ok(line.length <= 80, line)
})

t.test('export writes every page to standard output, as RFC 4180 says', async (t) => {
  const { run, requests } = await portal(t, { pages: 12 })
  const { code, stdout, stderr } = await run(['export', '--status', 'Settled'])
  t.equal(code, 0)
  const lines = stdout.split('\r\n')
  t.equal(lines[0], HEADER)
  t.equal(lines.length, 1_202)
  t.equal(lines.at(-1), '')
  t.match(lines[1], /,1-0,BANK-1,$/)
  t.match(lines[1_200], /,12-99,BANK-1,$/)
  t.equal(stderr, '1000 payments so far\nExported 1200 payments.\n')
  t.equal(requests.length, 12)
  t.ok(requests.every(({ path }) => path.includes('limit=100') && path.includes('status=Settled')))
  t.equal((await run(['export', '--no-header'])).stdout.split('\r\n').length, 1_201)
})

t.test('an export is whole over pages that are empty, and of none', async (t) => {
  const { run } = await portal(t, { pages: 6, empty: [1, 2, 4, 6] })
  const lines = (await run(['export', '--currency', 'EUR'])).stdout.split('\r\n')
  t.equal(lines[0], HEADER)
  t.equal(lines.filter((line) => line === HEADER).length, 1)
  t.equal(lines.length, 202)
  t.equal(JSON.parse((await run(['export', '-o', 'json'])).stdout).length, 200)
  t.equal((await run(['export', '-o', 'jsonl'])).stdout.trim().split('\n').length, 200)
  const { run: runEmpty } = await portal(t, { pages: 2, empty: [1, 2] })
  t.equal((await runEmpty(['export'])).stdout, `${HEADER}\r\n`)
  t.same(JSON.parse((await runEmpty(['export', '-o', 'json'])).stdout), [])
})

t.test('a list without --all ends after some empty pages, and says where it goes on', async (t) => {
  const { run, requests } = await portal(t, { pages: 60, empty: Array.from({ length: 50 }, (_, index) => index + 1) })
  const { code, stderr } = await run(['list', '--currency', 'EUR'])
  t.equal(code, 0)
  t.equal(stderr, 'None so far.\nThere are more: --cursor 21, or --all\n')
  t.equal(requests.length, 20)
})

t.test('export --file puts the file there once it is whole', async (t) => {
  const folder = folderOf(t)
  const { run } = await portal(t, { pages: 2 })
  const { code, stdout, stderr } = await run(['export', '--file', 'payments.csv'], { cwd: folder })
  t.match({ code, stdout, stderr }, { code: 0, stdout: '', stderr: 'Exported 200 payments to payments.csv.\n' })
  const file = join(folder, 'payments.csv')
  t.equal(readFileSync(file, 'utf8').split('\r\n').length, 202)
  t.equal(statSync(file).mode & 0o777, 0o600, 'payers stand in it')
  t.same(readdirSync(folder), ['payments.csv'])
})

t.test('an export that fails on the way leaves the file of before as it was', async (t) => {
  const folder = folderOf(t)
  const file = join(folder, 'payments.csv')
  const { run } = await portal(t, { pages: 3, broken: 2 })
  t.equal((await run(['export', '--file', file])).code, 1)
  t.notOk(existsSync(file))
  writeFileSync(file, 'of yesterday')
  t.equal((await run(['export', '--file', file, '--force'])).code, 1)
  t.equal(readFileSync(file, 'utf8'), 'of yesterday')
  t.same(readdirSync(folder), ['payments.csv'])
})

t.test('what is there already is replaced with --force alone, and a folder has to be there', async (t) => {
  const folder = folderOf(t)
  const { run, requests } = await portal(t)
  writeFileSync(join(folder, 'payments.csv'), 'of last month')
  const refused = await run(['export', '--file', 'payments.csv'], { cwd: folder })
  t.match(refused, { code: 2, stdout: '', stderr: /payments\.csv is there already\nTry: .*--force/ })
  const nowhere = await run(['export', '--file', 'books/payments.csv'], { cwd: folder })
  t.match(nowhere, { code: 2, stderr: /there is no folder .*\/books\nTry: mkdir -p/ })
  t.match(await run(['export', '--file', '.'], { cwd: folder }), { code: 2, stderr: /is a folder/ })
  t.equal(readFileSync(join(folder, 'payments.csv'), 'utf8'), 'of last month')
  t.strictSame([requests.length, readdirSync(folder)], [0, ['payments.csv']], 'nothing was asked or written')
  t.match(await run(['export', '--file', 'payments.csv', '--force'], { cwd: folder }), { code: 0 })
  t.equal(readFileSync(join(folder, 'payments.csv'), 'utf8').split('\r\n').length, 102)
})

t.test('what is no file is written to as it is, and a link leads to its file', async (t) => {
  const cwd = folderOf(t)
  const { run } = await portal(t)
  const { stdout } = await run(['export'])
  writeFileSync(join(cwd, 'books.csv'), 'of last month')
  symlinkSync('books.csv', join(cwd, 'link.csv'))
  symlinkSync('nothing.csv', join(cwd, 'astray.csv'))
  const link = ['export', '--file', 'link.csv']
  t.match(await run(link, { cwd }), { code: 2, stderr: /link\.csv is there already/ })
  t.match(await run([...link, '--force'], { cwd }), { code: 0 })
  t.ok(lstatSync(join(cwd, 'link.csv')).isSymbolicLink())
  t.equal(readFileSync(join(cwd, 'books.csv'), 'utf8'), stdout, 'the file has it')
  t.match(await run(['export', '--file', 'astray.csv', '--force'], { cwd }), { code: 2, stderr: /a link to nothing/ })
  const fifo = join(cwd, 'fifo')
  execFileSync('mkfifo', [fifo])
  const collected = readFile(fifo, 'utf8')
  t.match(await run(['export', '--file', 'fifo'], { cwd }), { code: 0, stderr: /Exported 100 payments to fifo/ })
  t.equal(await collected, stdout)
  t.ok(statSync(fifo).isFIFO(), 'it is not replaced, also without --force')
  for (const file of ['-', '/dev/stdout'])
    t.match(await run(['export', '--file', file, '--force'], { cwd }), { code: 0, stdout }, file)
  t.same(readdirSync(cwd).toSorted(), ['astray.csv', 'books.csv', 'fifo', 'link.csv'], 'and no file is called -')
})

t.test('an export is done when it is written, and one that is interrupted leaves nothing', async (t) => {
  const { run } = await portal(t, { pages: 2 })
  const full = await run(['export'], { unwritten: Object.assign(new Error('full'), { code: 'ENOSPC' }) })
  t.match(full, { code: 1, stderr: /^Error: the result can't be written: no space is left.*\n$/ })
  const gone = await run(['export'], { unwritten: Object.assign(new Error('gone'), { code: 'EPIPE' }) })
  t.match(gone, { code: 0, stderr: '' })
  const cwd = folderOf(t)
  const { url } = await fakeService(t, () => {
    setImmediate(() => process.emit('SIGTERM', 'SIGTERM'))
    return 'silence'
  })
  const stopped = await runCli(['payments', 'export', '--file', 'x', '--api-url', url, '--client-id', 'demo'], { cwd })
  t.match(stopped, { code: 143, stderr: /ended by SIGTERM/ })
  t.same(readdirSync(cwd), [])
})

t.test('a closed pipe does not keep a signal from the command', async (t) => {
  const { url, requests } = await portal(t, { pages: 100 })
  const fifo = join(folderOf(t), 'fifo')
  execFileSync('mkfifo', [fifo])
  const reader = await open(fifo, constants.O_RDONLY | constants.O_NONBLOCK)
  t.teardown(() => reader.close())
  const words = ['payments', 'export', '--file', fifo, '--api-url', url, '--client-id', 'demo']
  const child = spawn(...nodeCommand([SOURCE, ...words]), { env: cleanEnv(), stdio: 'ignore' })
  const ended = once(child, 'exit')
  await until('it writes', () => requests.length > 2)
  child.kill('SIGINT')
  t.same(await ended, [null, 'SIGINT'])
})

t.test('an export is JSON where that is asked for, and other forms are refused', async (t) => {
  const folder = folderOf(t)
  const { run } = await portal(t, { pages: 3 })
  const json = await run(['export', '-o', 'json'])
  t.equal(JSON.parse(json.stdout).length, 300)
  const lines = (await run(['export', '-o', 'jsonl'])).stdout.trimEnd().split('\n')
  t.strictSame(
    lines.map((line) => JSON.parse(line)),
    JSON.parse(json.stdout),
  )
  await run(['export', '--json', '--file', 'payments.json'], { cwd: folder })
  t.equal(readFileSync(join(folder, 'payments.json'), 'utf8'), json.stdout)
  for (const words of [['-o', 'yaml'], ['-o', 'id'], ['-q', '[0]'], ['--json=payment_id']])
    t.match(await run(['export', ...words]), { code: 2, stdout: '', stderr: /payments list --fees --all/ })
})

t.test(
  "against the service itself, an export is the service's own CSV, and payments list has the same rows",
  async (t) => {
    const service = await testService(t, { env: { SVC_IDENTITY: 'none' } })
    const merchant = await service.merchant()
    await settledPayment(service, merchant, { payer_name: 'Ada, "Countess"' })
    for (let index = 0; index < 3; index += 1)
      await createPayment(service, merchant, { amount: '33.33', remittance_reference: '=1+1' })
    const asked = await service.call('GET', '/api/v1/portal/transactions', {
      merchant,
      headers: { accept: 'text/csv' },
    })
    const where = ['--api-url', service.url, '--client-id', merchant.clientId]
    t.match(await runCli(['payments', 'export', ...where]), { code: 0, stdout: asked.text })
    const payments = await runCli(['payments', 'list', '--all', '-o', 'csv', '--json=payment_id,fee_amount', ...where])
    const lines = await runCli(['payments', 'list', '--fees', '-o', 'csv', '--json=payment_id,fee_amount', ...where])
    t.equal(lines.stdout, payments.stdout)
    t.match(lines.stdout, /^payment_id,fee_amount\n(.*,0\.5333\n){3}.*,0\.70\n$/)
  },
)
