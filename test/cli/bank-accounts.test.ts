import t from 'tap'
import { run } from '../../cli/entry/run.ts'
import { fakeAdmin } from './admin-harness.ts'
import { fakeService, makeIo, runCli, serviceInfo } from './harness.ts'

const ID = '01a1fd03-f879-7eb7-872f-a2b4358c4f6d'
const ACCOUNT = {
  id: ID,
  account_holder_name: 'Acme Ltd',
  account_number: '****9284',
  sort_code: '****4531',
  iban: null,
  is_active: true,
  created_at: '2026-11-21T09:30:00.000Z',
  disabled_at: null,
}
const NUMBERS = { sort_code: '20-45-31', account_number: '73619284' }
const PATH = '/api/v1/portal/bank-accounts'
const env = { SVC_CLIENT_ID: 'acme-server' }
const ADD = ['payouts', 'accounts', 'create', '--holder', 'Acme Ltd']

function service(t: Parameters<typeof fakeAdmin>[0], mode: 'sandbox' | 'live' = 'sandbox') {
  return fakeAdmin(
    t,
    ({ method }) => ({
      status: method === 'POST' ? 201 : 200,
      json:
        method === 'GET'
          ? { data: [ACCOUNT], has_more: false, next_cursor: null }
          : method === 'DELETE'
            ? { ...ACCOUNT, is_active: false, disabled_at: ACCOUNT.created_at }
            : ACCOUNT,
    }),
    { mode },
  )
}

t.test('the list shows masked numbers, for people and for programs', async (t) => {
  const { run } = await service(t)
  const listed = await run(['payouts', 'accounts', 'list'], { env })
  t.match(listed, { code: 0, stdout: /SORT CODE[^]*Acme Ltd +\*\*\*\*4531 +\*\*\*\*9284[^]*active/ })
  t.same(JSON.parse((await run(['payouts', 'accounts', 'list', '--json'], { env })).stdout), [ACCOUNT])
  t.match(await run(['payouts', 'accounts', 'list', '-o', 'id'], { env }), { stdout: `${ID}\n` })
})

t.test('numbers come as JSON on standard input, and stand in no flag', async (t) => {
  const { run, writes } = await service(t)
  const added = await run([...ADD, '--stdin'], { env, stdin: JSON.stringify(NUMBERS) })
  t.match(added, { code: 0, stdout: /\*\*\*\*9284/ })
  t.notOk(`${added.stdout}${added.stderr}`.includes('73619284'))
  t.same(writes(), [{ method: 'POST', path: PATH, body: { account_holder_name: 'Acme Ltd', ...NUMBERS } }])
  for (const flag of ['--account-number', '--sort-code', '--iban'])
    t.match(await run([...ADD, flag, '73619284'], { env }), { code: 2, stderr: /unknown option/ })
  const help = await run(['payouts', 'accounts', 'create', '--help'])
  t.match(help.stdout, /Numbers are not taken from the command line/)
})

t.test('what is no such JSON is refused, and nothing of it is repeated', async (t) => {
  const { run, requests } = await service(t)
  for (const stdin of [
    '',
    '73619284',
    '[]',
    '{"sort_code":"20-45-31"}',
    '{"sort_code":204531,"account_number":73619284}',
  ]) {
    const { code, stdout, stderr } = await run([...ADD, '--stdin'], { env, stdin })
    t.equal(code, 2, stdin)
    t.notOk(`${stdout}${stderr}`.includes('73619284'))
    t.notOk(`${stdout}${stderr}`.includes('204531'))
  }
  t.match(await run(ADD, { env }), { code: 2, stderr: /no terminal[^]*--stdin/ })
  t.same(requests, [])
})

t.test('at a terminal the numbers are asked for', async (t) => {
  const { url, requests } = await fakeService(t, ({ path }) =>
    path === '/api/v1/service' ? { json: serviceInfo() } : { status: 201, json: ACCOUNT },
  )
  const typed = [' 20-45-31 ', '73619284', '']
  const { io, stdout, stderr } = makeIo({ env: { ...env, SVC_API_URL: url }, typed: '' })
  const answers = [...typed]
  const code = await run(ADD, { ...io, stdin: { ...io.stdin, readLine: async () => answers.shift() } })
  t.equal(code, 0)
  t.match(stderr.join(''), /Sort code: Account number: IBAN \(Enter for none\): /)
  t.same(JSON.parse(requests.find(({ method }) => method === 'POST')?.body ?? ''), {
    account_holder_name: 'Acme Ltd',
    ...NUMBERS,
  })
  t.notOk(stdout.join('').includes('73619284'))
  const ended = { ...io, stdin: { ...io.stdin, readLine: async () => undefined } }
  t.equal(await run(ADD, ended), 2, 'the end of the input is no number')
})

t.test('--dry-run asks for no number, asks the service where there are some, and changes nothing', async (t) => {
  const admin = await service(t)
  const { run } = admin
  t.match(await run([...ADD, '--dry-run', '--json'], { env }), { code: 0, stdout: /"dry_run":true.*"url":"http:/ })
  t.same(admin.requests, [])
  const told = await run([...ADD, '--stdin', '--dry-run'], { env, stdin: JSON.stringify(NUMBERS) })
  t.match(told, { code: 0, stdout: /Would send +POST/, stderr: /Nothing was changed/ })
  t.notMatch(`${told.stdout}${told.stderr}`, '73619284')
  t.match(admin.requests, [{ method: 'POST', path: `${PATH}?dry_run=true` }])
  t.match(await run(['payouts', 'accounts', 'disable', ID, '--dry-run', '--json'], { env }), {
    code: 0,
    stdout: /"method":"DELETE".*end payouts to the account \*\*\*\*9284 of Acme Ltd/,
  })
  t.same(admin.writes(), [])
})

t.test('an account is disabled by its id or the end of it', async (t) => {
  const { run, writes } = await service(t)
  t.match(await run(['payouts', 'accounts', 'disable', ID.slice(-8)], { env }), { code: 0, stdout: /disabled/ })
  t.same(writes(), [{ method: 'DELETE', path: `${PATH}/${ID}`, body: null }])
  t.match(await run(['payouts', 'accounts', 'disable', 'ffffffff'], { env }), {
    code: 6,
    stderr: /bank account not found[^]*payouts accounts list/,
  })
})

t.test('in live mode both ask first, and a program has to say --yes', async (t) => {
  const { run, writes } = await service(t, 'live')
  const stdin = JSON.stringify(NUMBERS)
  t.match(await run([...ADD, '--stdin'], { env, stdin }), { code: 2, stderr: /asks first/ })
  t.match(await run(['payouts', 'accounts', 'disable', ID], { env }), { code: 2, stderr: /asks first/ })
  t.match(await run(['payouts', 'accounts', 'disable', ID.slice(-8), '--yes'], { env }), {
    code: 2,
    stderr: /whole id/,
  })
  t.same(writes(), [])
  t.match(await run([...ADD, '--stdin', '--yes'], { env, stdin }), { code: 0 })
  t.match(await run(['payouts', 'accounts', 'disable', ID, '--yes'], { env }), { code: 0 })
  t.equal(writes().length, 2)
})

t.test('a refusal names the next command', async (t) => {
  const { url } = await fakeService(t, ({ path }) =>
    path === '/api/v1/service'
      ? { json: serviceInfo() }
      : {
          status: 409,
          json: {
            error: 'a merchant can have at most 20 active bank accounts',
            code: 'BANK_ACCOUNT_LIMIT_REACHED',
            status: 409,
            type: 'http://127.0.0.1/errors/bank-account-limit-reached',
            request_id: 'r',
          },
        },
  )
  t.match(await runCli([...ADD, '--stdin'], { env: { ...env, SVC_API_URL: url }, stdin: JSON.stringify(NUMBERS) }), {
    code: 7,
    stderr: /Try: svc payouts accounts list/,
  })
})
