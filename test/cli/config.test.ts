import { readFileSync, readdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import t from 'tap'
import { CONFIG_VARIABLES } from '../../src/config/environment.ts'
import { runCli } from './harness.ts'

const KEY = Buffer.alloc(32, 7).toString('base64')
const GOOD = { SVC_DATABASE_URL: 'postgres://app:hunter2@db.example/svc?sslpassword=hunter3', SVC_ENCRYPTION_KEY: KEY }

t.test('every setting is shown with where it came from, and no secret', async (t) => {
  const cwd = t.testdir({})
  writeFileSync(join(cwd, 'config.yaml'), 'api_url: http://127.0.0.1:9\n')
  const env = {
    SVC_CONFIG_DIR: cwd,
    SVC_CLIENT_SECRET: 'hunter2',
    SVC_TOKEN: 'hunter3',
    SVC_TIMEOUT: '5s',
    SVC_WEBHOOK_SECRET_FILE: '/run/x',
  }
  const { code, stdout } = await runCli(['config', 'show', '--client-id', 'acme', '--json'], { cwd, env })
  t.equal(code, 0)
  t.notMatch(stdout, 'hunter')
  const rows: { name: string; value: string | null; source: string }[] = JSON.parse(stdout)
  const of = (name: string): unknown => rows.find((row) => row.name === name)
  t.match(of('SVC_API_URL'), { value: 'http://127.0.0.1:9/', source: join(cwd, 'config.yaml') })
  t.match(of('SVC_CLIENT_ID'), { value: 'acme', source: '--client-id' })
  t.match(of('SVC_TIMEOUT'), { value: '5s', source: 'environment' })
  t.match(of('SVC_CLIENT_SECRET'), { value: '********', source: 'environment' })
  t.match(of('SVC_WEBHOOK_SECRET'), { value: 'the file /run/x', source: 'SVC_WEBHOOK_SECRET_FILE' })
  t.match(of('SVC_OUTPUT'), { value: 'table', source: 'default' })
  t.match(of('SVC_CUSTOMER_ID'), { value: null, source: 'not set' })
  t.match((await runCli(['config', 'show'], { cwd })).stdout, /^SETTING +VALUE +FROM\n/)
  t.notMatch((await runCli(['config', 'show', '--set'], { cwd })).stdout, /default|not set/)
})

t.test('what a file says is shown with the file', async (t) => {
  const cwd = t.testdir({
    home: { 'config.yaml': 'timeout: 7s\noutput: csv\napi_url: https://pay.example\nprofile: dev\n' },
    'my.env': 'SVC_CLIENT_ID=acme\nSVC_DEBUG=api\n',
    'more.env': 'SVC_DEBUG=\nSVC_PORT=9000\n',
  })
  const user = join(cwd, 'home', 'config.yaml')
  const env = { SVC_CONFIG_DIR: join(cwd, 'home'), SVC_DEBUG: '' }
  const words = ['config', 'show', '--env', 'my.env', '--env', 'more.env', '--no-input', '--json']
  const { stdout } = await runCli([...words, '--set'], { cwd, env })
  const rows: { name: string; value: string | null; source: string }[] = JSON.parse(stdout)
  t.same(Object.fromEntries(rows.map(({ name, value, source }) => [name, [value, source]])), {
    SVC_API_URL: ['https://pay.example/', user],
    SVC_PROFILE: ['dev', user],
    SVC_CLIENT_ID: ['acme', 'my.env'],
    SVC_CONFIG_DIR: [join(cwd, 'home'), 'environment'],
    SVC_OUTPUT: ['csv', user],
    SVC_NO_INPUT: ['1', '--no-input'],
    SVC_TIMEOUT: ['7s', user],
  })
  const server = await runCli([...words, '--server', '--set'], { cwd, env })
  t.match(JSON.parse(server.stdout), [{ name: 'SVC_PORT', value: '9000', source: 'more.env' }])
})

t.test("the server's settings", async (t) => {
  const { stdout } = await runCli(['config', 'show', '--server', '--json'], { env: GOOD })
  t.notMatch(stdout, /hunter|BwcH/)
  const rows: { name: string; value: string | null }[] = JSON.parse(stdout)
  t.same(
    rows.map(({ name }) => name),
    CONFIG_VARIABLES.map(({ name }) => name),
  )
  t.match(
    rows.find(({ name }) => name === 'SVC_DATABASE_URL'),
    { value: 'postgres://app:********@db.example/svc?…' },
  )
  t.match(
    rows.find(({ name }) => name === 'SVC_PORT'),
    { value: '8080', source: 'default' },
  )
})

t.test('check names every wrong variable as svc serve would, and repeats no value', async (t) => {
  t.match(await runCli(['config', 'check', '-q', 'mode'], { env: GOOD }), { code: 0, stdout: 'sandbox\n' })
  const env = { SVC_PORT: 'hunter2', SVC_MODE: 'test', SVC_ENCRYPTION_KEY: 'hunter3' }
  const wrong = await runCli(['config', 'check', '--json'], { env })
  t.equal(wrong.code, 3)
  t.notMatch(wrong.stdout + wrong.stderr, 'hunter')
  t.same(
    JSON.parse(wrong.stdout)
      .map(({ variable }: { variable: string }) => variable)
      .toSorted(),
    ['SVC_DATABASE_URL', 'SVC_ENCRYPTION_KEY', 'SVC_MODE', 'SVC_PORT'],
  )
  const unsafe = await runCli(['config', 'check', '-o', 'id'], {
    env: { ...GOOD, SVC_MODE: 'live', SVC_IDENTITY: 'none' },
  })
  t.match(unsafe, { code: 3, stdout: /^SVC_IDENTITY\n/ })
  t.match(await runCli(['config', 'check'], { env }), {
    code: 3,
    stderr: /would not start: 4 of its variables are wrong/,
  })
})

t.test('the OpenAPI description, and pages that open in a browser', async (t) => {
  t.equal((await runCli(['api', 'openapi', '--offline', '-q', 'openapi'])).stdout, '3.1.0\n')
  t.match(
    (await runCli(['api', 'openapi', '--offline', '--surface', 'a', '-o', 'yaml'])).stdout,
    /title: svc Open Banking API/,
  )
  t.match(await runCli(['api', 'openapi'], { env: { SVC_API_URL: 'http://127.0.0.1:1' } }), { code: 8 })
  t.match(await runCli(['open', 'portal']), { code: 2, stdout: '', stderr: /use one of demo, payer, shop, api,/ })
  t.match(await runCli(['open', 'nonsense']), { code: 2 })
})

t.test('a new migration gets the next number, in a checkout alone', async (t) => {
  const cwd = t.testdir({
    src: { db: { 'migrate.ts': '' } },
    migrations: { '0007_old.sql': '', '0012_last.sql': '', 'notes.txt': '' },
  })
  const below = join(cwd, 'src', 'db')
  const dry = await runCli(['migrate', 'create', 'add_notes', '--dry-run'], { cwd: below })
  t.match(dry, { code: 0, stdout: /Would write +..\/..\/migrations\/0013_add_notes.sql/ })
  t.equal(readdirSync(join(cwd, 'migrations')).length, 3)
  t.equal((await runCli(['migrate', 'create', 'add_notes'], { cwd: below })).code, 0)
  t.match(readFileSync(join(cwd, 'migrations', '0013_add_notes.sql'), 'utf8'), /^-- add notes: /)
  for (const name of ['Add-Notes', '../evil', 'a b', '1st', '', 'a'.repeat(61), 'add_notes'])
    t.match(await runCli(['migrate', 'create', name], { cwd }), { code: 2, stdout: '' }, name)
  t.match(await runCli(['migrate', 'create', 'Add-Notes'], { cwd }), {
    stderr: /Try: svc migrate create add_payment_notes\n/,
  })
  t.match(await runCli(['migrate', 'create', 'x'], { cwd: '/' }), { code: 2, stderr: /no source of svc here/ })
  t.equal(readdirSync(join(cwd, 'migrations')).length, 4)
})

t.test('help lists its topics, and the forms of values and results', async (t) => {
  const topics: string[] = (await runCli(['help', 'topics', '-o', 'id'])).stdout.trim().split('\n')
  t.ok(['exit-codes', 'environment', 'global', 'output', 'formats'].every((topic) => topics.includes(topic)))
  for (const topic of topics) {
    const { code, stdout } = await runCli(['help', topic], { tty: true, columns: 80 })
    t.equal(code, 0, topic)
    t.ok(
      stdout.split('\n').every((line) => line.length <= 80),
      topic,
    )
  }
  t.match((await runCli(['help', 'nonsense'])).code, 2)
})
