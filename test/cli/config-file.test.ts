import { mkdirSync, mkdtempSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import t from 'tap'
import type { Test } from 'tap'
import { SCRATCH } from '../support/scratch.ts'
import { fakeService, runCli, summaryOf, paymentOf } from './harness.ts'

/** A directory to work in, and one for the user's configuration. */
function folders(files: { user?: string }): { cwd: string; config: string } {
  const cwd = mkdtempSync(join(SCRATCH, 'svc-config-'))
  const config = join(cwd, 'home')
  mkdirSync(config)
  if (files.user !== undefined) writeFileSync(join(config, 'config.yaml'), files.user)
  return { cwd, config }
}

/** Who the token is of. */
const WHO = {
  kind: 'merchant',
  role: 'ADMIN',
  permissions: [],
  merchant: null,
  realm: null,
  client_id: null,
  subject: 'ada',
  name: 'ada',
  expires_at: null,
}

async function list(
  t: Test,
  files: { user?: string },
  { words = [], env = {} }: { words?: string[]; env?: NodeJS.ProcessEnv } = {},
) {
  const { url } = await fakeService(t, ({ path }) => ({
    json: path.endsWith('/whoami') ? WHO : { data: [summaryOf('Settled')], has_more: false, next_cursor: null },
  }))
  const { cwd, config } = folders(files)
  const own = { SVC_CONFIG_DIR: config, SVC_CLIENT_ID: 'demo', SVC_API_URL: url }
  return runCli(['payments', 'list', ...words], { cwd, env: { ...own, ...env } })
}

const JSON_LINE = /^\{"payment_id"/

t.test("flag, environment, env file, the user's file: the first that says it is right", async (t) => {
  const user = 'output: jsonl\n'
  t.match((await list(t, { user })).stdout, JSON_LINE)
  const folder = mkdtempSync(join(SCRATCH, 'svc-env-'))
  const file = join(folder, 'my.env')
  writeFileSync(file, 'SVC_OUTPUT=yaml\n')
  const words = ['--env', file]
  t.match((await list(t, { user }, { words })).stdout, /^- payment_id:/)
  t.match((await list(t, { user }, { words, env: { SVC_OUTPUT: 'csv' } })).stdout, /^payment_id,/)
  t.match((await list(t, { user }, { words: [...words, '-o', 'json'], env: { SVC_OUTPUT: 'csv' } })).stdout, /^\[/)
})

t.test('an error is printed in the form that a file asks for', async (t) => {
  const { stderr } = await list(t, { user: 'output: json\n' }, { words: ['--limit', 'x'] })
  t.match(JSON.parse(stderr), { error: { code: 'USAGE' } })
})

t.test("the user's file names the service, and the working folder configures nothing", async (t) => {
  const { url, requests } = await fakeService(t, () => ({ json: { data: [], has_more: false, next_cursor: null } }))
  const { cwd, config } = folders({ user: `api_url: ${url}\n` })
  const env = { SVC_CONFIG_DIR: config, SVC_CLIENT_ID: 'demo' }
  t.match(await runCli(['payments', 'list'], { cwd, env }), { code: 0 })
  mkdirSync(join(cwd, '.svc'))
  writeFileSync(join(cwd, '.svc', 'config.yaml'), 'output: json\n')
  t.match(await runCli(['payments', 'list'], { cwd, env }), {
    code: 2,
    stderr: /configures nothing any more\nTry: its settings as SVC_ variables in a file: --env/,
  })
  t.equal(requests.length, 1)
})

t.test('colour, pager and timeout are said by a file, too', async (t) => {
  t.ok((await list(t, { user: 'color: always\n' })).stdout.includes('\u001b['))
  t.notOk((await list(t, { user: 'color: always\n' }, { env: { NO_COLOR: '1' } })).stdout.includes('\u001b['))
  const silent = await fakeService(t, () => 'silence')
  const { cwd, config } = folders({ user: 'timeout: 50ms\npager: cat\n' })
  const env = { SVC_CONFIG_DIR: config, SVC_CLIENT_ID: 'demo', SVC_API_URL: silent.url }
  t.match(await runCli(['payments', 'list'], { cwd, env }), { code: 8 })
})

t.test('a value that can not be is refused with the file and the key', async (t) => {
  for (const [line, why] of [
    ['output: xml', /config\.yaml: output: "xml" is none of table, json/],
    ['color: red', /config\.yaml: color: "red" is none of/],
    ['timeout: soon', /config\.yaml: timeout: "soon" is not a valid duration/],
    ['output: "c4n4ry', /config\.yaml: not valid YAML in line \d/],
  ] as const) {
    const { code, stderr } = await list(t, { user: `${line}\n` })
    t.match({ code, stderr }, { code: 2, stderr: why }, line)
    t.notMatch(stderr, /c4n4ry/)
  }
  const { cwd, config } = folders({ user: 'output: xml\n' })
  const help = await runCli(['help', 'environment'], { cwd, env: { SVC_CONFIG_DIR: config } })
  t.match(help, { code: 0, stdout: /config\.yaml/ }, 'help tells how to mend it')
})

t.test('an env file that is not there is named, and its contents are never printed', async (t) => {
  const folder = mkdtempSync(join(SCRATCH, 'svc-env-'))
  writeFileSync(join(folder, 'a.env'), 'SVC_CLIENT_ID=demo\nSVC_TIMEOUT="c4n4ry"\n')
  t.match(await list(t, {}, { words: ['--env', 'missing.env'] }), {
    code: 2,
    stderr: /--env: can't read missing\.env: there is no such file/,
  })
  t.match(await list(t, {}, { words: [`--env=${folder}`] }), { code: 2, stderr: /--env: can't read/ })
  const later = join(folder, 'b.env')
  writeFileSync(later, 'SVC_TIMEOUT=5s\n')
  const words = ['--env', join(folder, 'a.env'), '--env', later]
  t.match(await list(t, {}, { words }), { code: 0, stderr: '' }, 'a later file wins over an earlier one')
})

t.test('SVC_DEBUG prints requests and the identity, and no secret', async (t) => {
  const env = { SVC_DEBUG: 'api,auth', SVC_TOKEN: 'c4n4ry.c4n4ry.c4n4ry' }
  const { stderr, stdout } = await list(t, {}, { words: ['--status', 'Settled'], env })
  t.match(
    stderr,
    /^\[auth\] acting by SVC_TOKEN[^\n]* at http:[^\n]*\n(\[api\] GET \/api\/v1\/whoami 200 \d+ ms\n)?\[api\] GET \/api\/v1\/payments 200 \d+ ms\n$/,
  )
  t.notMatch(stderr, /c4n4ry|Settled/)
  t.match(stdout, /Settled/)
  const lost = await runCli(['payments', 'list', '--api-url', 'http://127.0.0.1:1', '--client-id', 'demo'], {
    env: { SVC_DEBUG: 'api' },
  })
  t.match(lost.stderr, /\[api\] GET \/api\/v1\/payments failed \(ECONNREFUSED\) \d+ ms/)
  t.notMatch((await list(t, {}, { env: { SVC_DEBUG: '1' } })).stderr, /\[/)
})

t.test('--no-input asks nothing, where a person would be asked', async (t) => {
  const info = { name: 'svc', version: '1', mode: 'live', identity: 'none', auth_url: null }
  const service = { ...info, platform_realm: 'platform', customers_realm: 'customers' }
  const { url, requests } = await fakeService(t, ({ path }) => ({
    json: path === '/api/v1/service' ? service : paymentOf('Settled'),
  }))
  const id = '01a1fd03-f879-7eb7-872f-a2b4358c4f6d'
  const words = ['payments', 'refund', id, '--api-url', url, '--client-id', 'demo']
  const asked = { typed: 'a2b4358c4f6d', tty: true }
  for (const [more, env] of [
    [['--no-input'], {}],
    [[], { SVC_NO_INPUT: '1' }],
  ] as const) {
    const { code, stderr } = await runCli([...words, ...more], { ...asked, env })
    t.match({ code, stderr }, { code: 2, stderr: /in live mode that asks first[^]*--yes/ })
  }
  t.same(
    requests.filter(({ method }) => method !== 'GET'),
    [],
  )
  const verify = await runCli(['payer', 'verify', '-', '--no-input', '--api-url', url], asked)
  t.match(verify, { code: 2, stderr: /which --no-input rules out/ })
})
