import { spawn, spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { existsSync, mkdirSync, mkdtempSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import t from 'tap'
import type { Test } from 'tap'
import { request } from 'undici'
import { until } from '../support/app.ts'
import { freePort } from '../support/free-port.ts'
import { SCRATCH } from '../support/scratch.ts'
import { runCli } from './harness.ts'
import { realService } from './real-service.ts'
import { cleanEnv } from './service.ts'

const STARTS = {
  node: ['npm', 'start', '--silent'],
  python: ['sh', '-c', 'set -a; . ./.env; set +a; exec python3 shop.py'],
  php: ['sh', 'start.sh'],
} as const

const hasPython = spawnSync('python3', ['--version']).status === 0

for (const language of ['node', 'python', 'php'] as const) {
  const program = language === 'python' ? 'python3' : language
  const isThere = spawnSync(program, ['--version']).status === 0
  const skip = isThere ? false : `there is no ${program} on this machine`
  t.test(`the ${language} sample is written, starts, takes a payment and hears of it once`, { skip }, async (t) => {
    const cwd = mkdtempSync(join(SCRATCH, 'svc-sample-'))
    const { code, stderr } = await runCli(['init', 'shop', '--app', language], { cwd })
    t.equal(code, 0)
    t.match(stderr, /cd shop\n[^]*svc listen --forward-to localhost:4242/)
    const folder = join(cwd, 'shop')
    const [shopPort, port] = [await freePort(), await freePort()]
    // With an identity provider, so that the shop has to prove itself with its secret.
    const service = await realService(t, { env: { SVC_IDENTITY: 'embedded' } })
    const merchant = await service.merchant({ webhookUrl: `http://127.0.0.1:${port}` })
    const given: Readonly<Record<string, string>> = {
      SVC_URL: service.url,
      SVC_REALM: merchant.realm,
      SVC_CLIENT_SECRET: merchant.clientSecret,
      SVC_CLIENT_ID: merchant.clientId,
      SVC_WEBHOOK_SECRET: merchant.secret,
      SHOP_PORT: String(shopPort),
      PORT: String(port),
    }
    fillIn(folder, given)
    const said = start(t, STARTS[language], folder)
    const shop = `http://127.0.0.1:${shopPort}`
    const front = await until(async () => (await fetch(shop).catch(() => undefined))?.text())
    t.match(front, 'One jar of marmalade')
    const toBank = await fetch(`${shop}/pay`, { method: 'POST', redirect: 'manual' })
    t.equal(toBank.status, 303, said())
    const decided = await request(toBank.headers.get('location') ?? '', {
      method: 'POST',
      headers: { 'content-type': 'application/x-www-form-urlencoded' },
      body: 'decision=approve',
    })
    await decided.body.dump()
    const order = new URL(String(decided.headers['location']))
    t.equal(order.host, `localhost:${shopPort}`)
    const back = (): Promise<Response> => fetch(`${shop}${order.pathname}${order.search}`, { redirect: 'manual' })
    t.equal((await back()).headers.get('location'), order.pathname)
    t.equal((await back()).status, 303, 'loaded again')
    await until(async () => /payment\.settled \S+/.test(said()))
    const shown = await until(async () => {
      const text = await (await fetch(`${shop}${order.pathname}`)).text()
      return text.includes('Settled') && text
    })
    t.match(shown, 'Your payment: Settled')
    const events = [...said().matchAll(/^(?:\[.*\] )?payment\.\w+ (?<id>\S+)$/gm)].map(({ groups }) => groups?.['id'])
    t.equal(new Set(events).size, events.length, 'each event is acted on once')
    t.equal((await fetch(`http://127.0.0.1:${port}`, { method: 'POST', body: '{}' })).status, 401)
    t.equal((await fetch(`${shop}/orders/nothing`)).status, 404)
    t.equal((await fetch(`${shop}/.env`)).status, 404)
  })
}

t.test('projects hold no secret, and say all that is needed', async (t) => {
  for (const name of ['node', 'php', 'python']) {
    const cwd = t.testdir({})
    await runCli(['init', 'svc-shop', '--app', name], { cwd })
    t.match(
      readFileSync(join(cwd, 'svc-shop', '.env.example'), 'utf8'),
      /^SVC_CLIENT_SECRET=\n[^]*^SVC_WEBHOOK_SECRET=\n/m,
    )
    t.match(readFileSync(join(cwd, 'svc-shop', '.gitignore'), 'utf8'), /^\.env$/m)
    t.match(readFileSync(join(cwd, 'svc-shop', 'README.md'), 'utf8'), 'svc listen --forward-to localhost:4242')
  }
})

t.test('what is written is of the service in use, without its secrets', async (t) => {
  const service = await realService(t, {})
  const cwd = mkdtempSync(join(SCRATCH, "svc-sample-it's-"))
  const stateDir = join(cwd, 'state')
  mkdirSync(stateDir)
  const merchant = {
    id: 'm',
    client_id: 'acme-ltd-server',
    client_secret: 'hunter2',
    realm: 'acme-ltd',
    webhook_secret: 'hunter3',
  }
  const state = {
    api_url: service.url,
    auth_url: null,
    demo_url: service.url,
    database_url: '',
    operator: null,
    customer: null,
  }
  writeFileSync(
    join(stateDir, 'svc.json'),
    JSON.stringify({ ...state, state_dir: stateDir, pid: process.pid, merchant }),
  )
  const made = await runCli(['init', 'svc-shop', '--app', 'python', '--state-dir', stateDir], { cwd })
  const example = (): string => readFileSync(join(cwd, 'svc-shop', '.env.example'), 'utf8')
  t.match(example(), `SVC_URL=${service.url}\nSVC_REALM=acme-ltd\nSVC_CLIENT_ID=acme-ltd-server\n`)
  t.notMatch(example() + made.stderr, 'hunter')
  t.match(made.stderr, /svc --state-dir \S.* listen --forward-to/)
  // From the new folder the service that runs here is found by the directory that is named.
  renameSync(stateDir, join(cwd, '.svc'))
  const here = await runCli(['init', 'other', '--app', 'python'], { cwd })
  t.match(here.stderr, 'svc listen --state-dir ../.svc --forward-to localhost:4242')
  rmSync(join(cwd, '.svc'), { recursive: true })
  // What a shell would read as more than a value.
  rmSync(join(cwd, 'svc-shop'), { recursive: true })
  const env = { SVC_API_URL: 'https://pay.example/$(touch x)' }
  t.match(await runCli(['init', 'svc-shop', '--app', 'python'], { cwd, env }), { code: 0 })
  t.match(example(), /^SVC_URL=http:\/\/127\.0\.0\.1:8080\nSVC_REALM=demo\n[^]*svc credentials create --name shop /m)
})

t.test('the python shop takes its receiver with it when it is ended', { skip: !hasPython }, async (t) => {
  const cwd = mkdtempSync(join(SCRATCH, 'svc-sample-'))
  await runCli(['init', 'shop', '--app', 'python'], { cwd })
  const port = await freePort()
  const env = cleanEnv({ SVC_CLIENT_ID: 'demo', SVC_WEBHOOK_SECRET: 's', SHOP_PORT: '0', PORT: String(port) })
  const child = spawn('python3', ['shop.py'], { cwd: join(cwd, 'shop'), env, stdio: 'ignore' })
  t.teardown(() => child.kill('SIGKILL'))
  const answers = (): Promise<boolean> =>
    fetch(`http://127.0.0.1:${port}`, { method: 'POST' }).then(
      () => true,
      () => false,
    )
  await until(answers)
  const ended = once(child, 'exit')
  child.kill('SIGTERM')
  t.same(await ended, [143, null])
  await until(async () => !(await answers()))
})

t.test('svc init writes what a project begins with, never over what is there', async (t) => {
  const cwd = mkdtempSync(join(SCRATCH, 'svc-init-'))
  writeFileSync(join(cwd, '.gitignore'), 'node_modules/\n')
  const dry = await runCli(['init', '--dry-run'], { cwd })
  t.match(dry, { code: 0, stdout: /would be written/ })
  t.notOk(existsSync(join(cwd, 'scenarios')))
  const made = await runCli(['init', '--json'], { cwd })
  t.same(
    JSON.parse(made.stdout).map(({ status }: { status: string }) => status),
    ['written', 'written', 'written', 'there already'],
  )
  t.equal(readFileSync(join(cwd, '.gitignore'), 'utf8'), 'node_modules/\n')
  t.match(await runCli(['sandbox', 'scenarios', 'validate', 'scenarios'], { cwd }), { code: 0, stderr: '' })
  writeFileSync(join(cwd, 'scenarios/report.json'), '{"title":"svc scenario, v1"}')
  t.match(await runCli(['sandbox', 'scenarios', 'validate', 'scenarios'], { cwd }), {
    code: 0,
    stderr: '',
  })
  writeFileSync(join(cwd, 'scenarios/first-payment.yaml'), 'mine\n')
  await runCli(['init'], { cwd })
  t.equal(readFileSync(join(cwd, 'scenarios/first-payment.yaml'), 'utf8'), 'mine\n')
  writeFileSync(join(cwd, 'file'), '')
  t.equal((await runCli(['init', 'file'], { cwd })).code, 2)
  t.match(await runCli(['init', 'shop', '--app', 'cobol'], { cwd }), { code: 2 })
  const dryApp = await runCli(['init', 'shop', '--app', 'php', '--dry-run', '--json'], { cwd })
  t.match(
    JSON.parse(dryApp.stdout).map(({ status }: { status: string }) => status),
    ['would be written'],
  )
  t.notOk(existsSync(join(cwd, 'shop')))
})

function fillIn(folder: string, given: Readonly<Record<string, string>>): void {
  const example = readFileSync(join(folder, '.env.example'), 'utf8')
  const filled = example.replaceAll(
    /^(\w+)=(.*)$/gm,
    (_, name: string, value: string) => `${name}=${given[name] ?? value}`,
  )
  writeFileSync(join(folder, '.env'), filled)
}

/** Starts it as its README says; what it says is kept, and with the test it ends, its children too. */
function start(t: Test, [file, ...args]: readonly [string, ...string[]], cwd: string): () => string {
  let said = ''
  const child = spawn(file, args, { cwd, env: cleanEnv(), stdio: ['ignore', 'pipe', 'pipe'], detached: true })
  for (const stream of [child.stdout, child.stderr]) stream.on('data', (chunk: Buffer) => (said += chunk.toString()))
  t.teardown(() => {
    if (child.pid !== undefined && child.exitCode === null) process.kill(-child.pid)
  })
  return () => said
}
