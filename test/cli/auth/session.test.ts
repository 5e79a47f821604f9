import { execFile } from 'node:child_process'
import { mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import t from 'tap'
import type { Test } from 'tap'
import { updateEntries } from '../../../cli/client/auth/credentials-file.ts'
import type { Session } from '../../../cli/client/auth/credentials-file.ts'
import { sessionSource } from '../../../cli/client/auth/session-source.ts'
import { makeConnections } from '../../../cli/client/call.ts'
import { runCli } from '../harness.ts'
import type { CliSettings } from '../harness.ts'
import { cleanEnv, nodeCommand } from '../service.ts'
import { fakeIdentity, writeState } from './fake-identity.ts'
import type { FakeIdentity, FakeIdentityOptions } from './fake-identity.ts'

type Setting = { fake: FakeIdentity; configDir: string; session: Session; settings: CliSettings }

const PAST = new Date(0).toISOString()

/** Somebody who signed in to acme-ltd long ago: the access token has expired, the refresh token works once. */
async function setUp(t: Test, wish: FakeIdentityOptions = {}): Promise<Setting> {
  const fake = await fakeIdentity(t, wish)
  const configDir = join(t.testdir({}), 'config')
  const session: Session = {
    type: 'session',
    api_url: fake.url,
    auth_url: fake.url,
    realm: 'acme-ltd',
    client_id: 'acme-ltd-cli',
    access_token: fake.accessToken(),
    expires_at: PAST,
    refresh_token: fake.refreshToken(),
  }
  const profile = `{ api_url: '${fake.url}', auth_url: '${fake.url}', realm: acme-ltd, client_id: acme-ltd-cli, kind: merchant, mode: sandbox, role: ADMIN, subject: u-1 }`
  mkdirSync(configDir)
  writeFileSync(join(configDir, 'config.yaml'), `profile: acme\nprofiles:\n  acme: ${profile}\n`)
  await updateEntries(configDir, async () => ({ acme: session }))
  return { fake, configDir, session, settings: { env: { SVC_CONFIG_DIR: configDir }, cwd: configDir } }
}

function stored(configDir: string): Session {
  return JSON.parse(readFileSync(join(configDir, 'credentials.json'), 'utf8')).entries.acme
}

function connections(t: Test) {
  const http = makeConnections(5_000)
  t.teardown(() => http.close())
  return http
}

t.test('an expired session is renewed once, and kept for the next command', async (t) => {
  const { fake, configDir, session, settings } = await setUp(t)
  t.match(await runCli(['whoami'], settings), { code: 0 })
  t.match(await runCli(['whoami'], settings), { code: 0 })
  t.same(
    fake.asked().map((form) => form.get('grant_type')),
    ['refresh_token'],
  )
  const now = stored(configDir)
  t.not(now.refresh_token, session.refresh_token)
  t.equal(now.access_token, fake.bearers().at(-1))
  t.ok(Date.parse(now.expires_at ?? '') > Date.now() + 800_000)
})

t.test('twenty that renew at the same moment use the refresh token once, and all go on', async (t) => {
  const { fake, configDir, session } = await setUp(t)
  const http = connections(t)
  const sources = Array.from({ length: 20 }, () => sessionSource(configDir, 'acme', session))
  const tokens = await Promise.all(sources.map((source) => source.token(http)))
  t.equal(new Set(tokens.map(({ accessToken }) => accessToken)).size, 1)
  t.equal(fake.asked().length, 1)
})

t.test('so do processes of their own', async (t) => {
  const { fake, configDir } = await setUp(t)
  const code = `import { run } from '${join(import.meta.dirname, '../../../cli/entry/run.ts')}'
    import { systemIo } from '${join(import.meta.dirname, '../../../cli/base/io.ts')}'
    process.exitCode = await run(process.argv.slice(1), systemIo())`
  const env = cleanEnv({ SVC_CONFIG_DIR: configDir })
  const whoami = async (): Promise<number> => {
    const { promise, resolve } = Promise.withResolvers<number>()
    execFile(...nodeCommand(['--input-type=module', '-e', code, 'whoami', '-q', 'role']), { env }, (error, stdout) =>
      resolve(stdout === 'ADMIN\n' && error === null ? 0 : 1),
    )
    return promise
  }
  t.same(await Promise.all([whoami(), whoami(), whoami(), whoami()]), [0, 0, 0, 0])
  t.equal(fake.asked().length, 1)
})

t.test('a token that the service calls expired is renewed, even where its time is not over', async (t) => {
  const { fake, configDir, session, settings } = await setUp(t)
  const fresh = { ...session, expires_at: new Date(Date.now() + 600_000).toISOString() }
  await updateEntries(configDir, async () => ({ acme: fresh }))
  fake.expired.add(fresh.access_token)
  t.match(await runCli(['whoami'], settings), { code: 0 })
  t.equal(fake.asked().length, 1)
  t.equal(fake.bearers().length, 2)
})

t.test('a session that is over is exit code 4, and so is the next command, without asking again', async (t) => {
  const { fake, configDir, session, settings } = await setUp(t)
  await updateEntries(configDir, async () => ({ acme: { ...session, refresh_token: 'used-up' } }))
  const { code, stderr } = await runCli(['whoami', '--json'], settings)
  t.equal(code, 4)
  t.match(JSON.parse(stderr), { error: { code: 'SESSION_EXPIRED', hint: /svc login/ } })
  t.match(await runCli(['payments', 'list'], settings), { code: 4 })
  t.equal(fake.asked().length, 1)
  t.notMatch(stderr, /used-up/)
  t.match((await runCli(['profile', 'show', 'acme'], settings)).stdout, /Signed in +expired/)
})

t.test('a session that is over does not become the demo merchant on the way', async (t) => {
  const { fake, configDir, session } = await setUp(t)
  const stateDir = writeState(configDir, fake.url)
  writeFileSync(join(configDir, 'config.yaml'), '')
  const over = { ...session, realm: 'demo', refresh_token: 'used-up' }
  await updateEntries(configDir, async () => ({ [`dev:merchant:${stateDir}`]: over }))
  const settings = { env: { SVC_CONFIG_DIR: configDir }, cwd: configDir }
  t.match(await runCli(['whoami'], settings), { code: 4 })
  t.match(await runCli(['whoami'], settings), { code: 4 })
  t.match(await runCli(['whoami', '--platform'], settings), { code: 0 })
})

t.test('a session that the service takes no more is renewed once; refused again, it is forgotten', async (t) => {
  const { fake, configDir, session, settings } = await setUp(t)
  const fresh = { ...session, expires_at: new Date(Date.now() + 600_000).toISOString() }
  await updateEntries(configDir, async () => ({ acme: fresh }))
  fake.untrusted.add('acme-ltd')
  t.match(await runCli(['payments', 'list'], settings), {
    code: 4,
    stderr: 'Error: your session in realm acme-ltd has ended\nTry: svc login --profile acme\n',
  })
  t.equal(fake.asked().length, 1)
  t.equal(fake.bearers().length, 2)
  t.match(stored(configDir), { access_token: '', refresh_token: null })
  t.match(JSON.parse((await runCli(['profile', 'list', '--json'], settings)).stdout), [{ signed_in: 'expired' }])
  t.match(await runCli(['whoami'], settings), { code: 4, stderr: /has ended/ })
  t.equal(fake.bearers().length, 2, 'nothing is left to ask with')
})

t.test('a session that is refused and can not be renewed has ended, also where its realm is gone', async (t) => {
  for (const realm of ['acme-ltd', 'nowhere']) {
    const { fake, configDir, session, settings } = await setUp(t)
    const later = new Date(Date.now() + 600_000).toISOString()
    const access_token = fake.accessToken(realm)
    await updateEntries(configDir, async () => ({
      acme: { ...session, realm, access_token, expires_at: later, refresh_token: 'used-up' },
    }))
    fake.untrusted.add(realm)
    t.match(await runCli(['payments', 'list'], settings), { code: 4, stderr: /has ended\nTry: svc login/ }, realm)
    t.match((await runCli(['profile', 'show'], settings)).stdout, /Signed in +expired/, realm)
  }
})

t.test('a session of dev that has ended names its realm, and does not become the demo merchant', async (t) => {
  const { fake, configDir, session } = await setUp(t)
  const stateDir = writeState(configDir, fake.url)
  writeFileSync(join(configDir, 'config.yaml'), '')
  const later = new Date(Date.now() + 600_000).toISOString()
  const dead = { ...session, realm: 'demo', access_token: fake.accessToken('demo'), expires_at: later }
  await updateEntries(configDir, async () => ({ [`dev:merchant:${stateDir}`]: { ...dead, refresh_token: 'used-up' } }))
  fake.untrusted.add('demo')
  const settings = { env: { SVC_CONFIG_DIR: configDir }, cwd: configDir }
  const ended = { code: 4, stderr: /your session in realm demo has ended\nTry: svc login --realm demo; svc logout/ }
  t.match(await runCli(['payments', 'list'], settings), ended)
  fake.untrusted.clear()
  t.match(await runCli(['payments', 'list'], settings), ended)
  t.match((await runCli(['profile', 'list'], settings)).stdout, /demo +expired/)
})

t.test('a provider that is away does not end the session', async (t) => {
  let isDown = true
  const { configDir, session, settings } = await setUp(t, {
    answer: ({ path }) => (isDown && path.startsWith('/realms/') ? 'cut' : undefined),
  })
  t.match(await runCli(['whoami'], settings), { code: 8 })
  t.same(stored(configDir), session)
  isDown = false
  t.match(await runCli(['whoami'], settings), { code: 0 })
})

t.test('a session that another process signed out meanwhile is reported as signed out', async (t) => {
  const { configDir, session } = await setUp(t)
  const source = sessionSource(configDir, 'acme', session)
  rmSync(join(configDir, 'credentials.json'))
  await t.rejects(source.token(connections(t)), { code: 'NOT_SIGNED_IN', options: { exit: 4 } })
})

t.test('a session is sent to no other service than its own', async (t) => {
  const { fake, configDir, session } = await setUp(t)
  const other = await fakeIdentity(t)
  await updateEntries(configDir, async () => ({ acme: { ...session, api_url: other.url } }))
  t.match(await runCli(['whoami'], { env: { SVC_CONFIG_DIR: configDir }, cwd: configDir }), { code: 4 })
  t.equal(fake.requests.length + other.requests.length, 0)
})

t.test('logout revokes the refresh token and forgets the session; a second one has nothing to do', async (t) => {
  const { fake, configDir, session, settings } = await setUp(t)
  const { code, stdout } = await runCli(['logout', '--json'], settings)
  t.equal(code, 0)
  t.same(JSON.parse(stdout), { profile: 'acme', signed_out: true, revoked: true })
  t.same(fake.revoked, [session.refresh_token])
  t.equal(stored(configDir), undefined)
  t.match(await runCli(['whoami'], settings), { code: 4 })
  t.same(JSON.parse((await runCli(['logout', '--json'], settings)).stdout), {
    profile: 'acme',
    signed_out: false,
    revoked: true,
  })
})

t.test('a provider that is away does not keep anybody signed in here', async (t) => {
  const { configDir, settings } = await setUp(t, {
    answer: ({ path }) => (path.startsWith('/realms/') ? 'cut' : undefined),
  })
  t.match(await runCli(['logout'], settings), { code: 0, stderr: /was not reached/ })
  t.equal(stored(configDir), undefined)
})
