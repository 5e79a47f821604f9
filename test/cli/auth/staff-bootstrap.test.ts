import { randomBytes } from 'node:crypto'
import t from 'tap'
import type { Test } from 'tap'
import { listOwners } from '../../../src/staff/users-sql.ts'
import { testService } from '../../support/app.ts'
import { PASSWORD } from '../../support/identity.ts'
import { UserAgent } from '../../support/user-agent.ts'
import { runCli } from '../harness.ts'
import type { CliSettings } from '../harness.ts'

/** A service of production, in which nobody is yet, and the environment of whoever installs it. */
async function setUp(t: Test) {
  const SVC_ENCRYPTION_KEY = randomBytes(32).toString('base64')
  const service = await testService(t, { env: { SVC_IDENTITY: 'embedded', SVC_ENCRYPTION_KEY } })
  const env = {
    SVC_DATABASE_URL: service.databaseUrl,
    SVC_ENCRYPTION_KEY,
    SVC_LOG_LEVEL: 'silent',
    SVC_PUBLIC_URL: service.url,
    NO_COLOR: '1',
  }
  const settings: CliSettings = { env }
  return { service, settings }
}

const BOOTSTRAP = ['staff', 'bootstrap', '--email', 'Ada@Pay.example', '--name', 'Ada Lovelace']

t.test('the first OWNER is invited by a link, which works once; then no other OWNER is', async (t) => {
  const { service, settings } = await setUp(t)
  const made = await runCli([...BOOTSTRAP, '--json'], settings)
  t.match(made, { code: 0, stderr: '' })
  const { link, ...rest } = JSON.parse(made.stdout)
  t.match(rest, { realm: 'platform', email: 'ada@pay.example', role: 'OWNER', link_expires_at: String })
  const agent = new UserAgent(service.url)
  const page = await agent.open(link)
  t.equal((await agent.send(page, { password: PASSWORD, repeated: PASSWORD })).status, 200)
  const used = await new UserAgent(service.url).open(link)
  t.notMatch(used.text, /type="password"/)
  const again = await runCli([...BOOTSTRAP, '--json'], settings)
  t.equal(again.code, 7)
  t.match(JSON.parse(again.stderr), {
    error: {
      code: 'USER_EXISTS',
      message: 'ada@pay.example is already an OWNER',
      hint: new RegExp(`^svc login --platform --api-url ${service.url}`),
    },
  })
})

t.test('a dry run prints what would be done', async (t) => {
  const { service, settings } = await setUp(t)
  const { code, stdout } = await runCli([...BOOTSTRAP, '--dry-run', '--json'], settings)
  t.equal(code, 0)
  t.same(JSON.parse(stdout), {
    dry_run: true,
    realm: 'platform',
    email: 'ada@pay.example',
    role: 'OWNER',
    display_name: 'Ada Lovelace',
    owners: [],
  })
  t.same(await listOwners(service.app.pool), [])
  t.match((await runCli(BOOTSTRAP, settings)).stderr, `svc login --platform --api-url ${service.url}\n`)
  t.match(await runCli([...BOOTSTRAP, '--dry-run'], settings), { stdout: /^OWNERs now +ada@pay\.example$/m })
})

t.test('a link that got lost is replaced by the same command', async (t) => {
  const { settings } = await setUp(t)
  const linkOf = async () => JSON.parse((await runCli([...BOOTSTRAP, '--json'], settings)).stdout).link
  const first = await linkOf()
  t.not(await linkOf(), first)
})

t.test('what is wrong is reported before anything is created', async (t) => {
  const { settings } = await setUp(t)
  t.match(await runCli(['staff', 'bootstrap'], settings), { code: 2, stderr: /--email/ })
  t.match(await runCli(['staff', 'bootstrap', '--email', 'ada'], settings), {
    code: 2,
    stderr: /--email: must be an e-mail address/,
  })
  t.match(await runCli(BOOTSTRAP, { env: {} }), { code: 2, stderr: /SVC_DATABASE_URL/ })
  const otherKey = { ...settings.env, SVC_ENCRYPTION_KEY: 'short' }
  t.match(await runCli(BOOTSTRAP, { env: otherKey }), { code: 2, stderr: /SVC_ENCRYPTION_KEY/ })
})
