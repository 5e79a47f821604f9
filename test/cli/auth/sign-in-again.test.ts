import { join } from 'node:path'
import t from 'tap'
import type { Test } from 'tap'
import { refusal, runCli } from '../harness.ts'
import type { CliSettings } from '../harness.ts'
import { fakeIdentity } from './fake-identity.ts'
import { addressIn, startCli, visit } from './running.ts'

const MEMBER = {
  id: '01a1fd03-0000-7eb7-872f-a2b4358c0001',
  email: 'grace@acme.example',
  role: 'DEVELOPER',
  is_active: true,
  invited_by: 'ada',
  created_at: '2026-11-21T09:30:00.000Z',
}
const INVITE = ['team', 'invite', '--email', MEMBER.email, '--role', MEMBER.role]
const SIGNED_IN = /Sign in now, and repeat the command\? \[Y\/n\] /

/** A person who signed in long ago, at a service where people are invited after a new sign-in only. */
async function setUp(t: Test, { isEnough = true } = {}) {
  const fake = await fakeIdentity(t, {
    answer: ({ method, path }) => {
      if (method !== 'POST' || path !== '/api/v1/portal/team') return undefined
      const isFresh = isEnough && fake.requests.some((each) => each.path.includes('acr_values=2'))
      return isFresh ? { status: 201, json: MEMBER } : refusal(401, 'INSUFFICIENT_USER_AUTHENTICATION')
    },
  })
  const dir = t.testdir({})
  const env = { SVC_CONFIG_DIR: join(dir, 'config'), SVC_API_URL: fake.url, BROWSER: '/bin/true', NO_COLOR: '1' }
  const settings: CliSettings = { env, cwd: dir, tty: true }
  const login = startCli(['login', '--realm', 'acme-ltd', '--profile', 'acme'], settings)
  await visit((await visit(await addressIn(login))).location)
  t.match(await login.ended, { code: 0 })
  const invitations = () => fake.requests.filter(({ path }) => path === '/api/v1/portal/team').length
  return { fake, settings: { ...settings, env: { ...env, SVC_API_URL: '' } }, invitations }
}

t.test('at a terminal Enter signs in again with the same profile, and the command is repeated', async (t) => {
  const { settings, invitations } = await setUp(t)
  const invite = startCli([...INVITE, '--profile', 'acme'], { ...settings, typed: '' })
  const url = new URL(await addressIn(invite))
  t.match(Object.fromEntries(url.searchParams), { client_id: 'acme-ltd-cli', acr_values: '2' })
  await visit((await visit(url.href)).location)
  const { code, stdout, stderr } = await invite.ended
  t.equal(code, 0, stderr)
  t.match(stderr, SIGNED_IN)
  t.match(stdout, /Profile +acme\n[^]*Team member +01a1fd03/)
  t.equal(invitations(), 2)
})

t.test('it is repeated once', async (t) => {
  const { settings, invitations } = await setUp(t, { isEnough: false })
  const invite = startCli(INVITE, { ...settings, typed: 'y' })
  await visit((await visit(await addressIn(invite))).location)
  const { code, stderr } = await invite.ended
  t.equal(code, 4)
  t.equal(stderr.match(new RegExp(SIGNED_IN, 'g'))?.length, 1)
  t.equal(invitations(), 2)
})

t.test('no sign-in is offered in a script, under CI, for JSON, or where a token is set, or after a no', async (t) => {
  const { fake, settings, invitations } = await setUp(t)
  const ended = { code: 4, stderr: /svc login --second-factor/ }
  for (const more of [
    { tty: false },
    { typed: '', env: { ...settings.env, CI: 'true' } },
    { typed: '', env: { ...settings.env, SVC_OUTPUT: 'json' } },
    { typed: '', env: { ...settings.env, SVC_TOKEN: fake.accessToken(), SVC_API_URL: fake.url } },
  ]) {
    const outcome = await runCli(INVITE, { ...settings, ...more })
    t.match(outcome, ended)
    t.notMatch(outcome.stderr, SIGNED_IN)
  }
  const outcome = await runCli([...INVITE, '--no-input'], { ...settings, typed: '' })
  t.notMatch(outcome.stderr, SIGNED_IN)
  t.match(await runCli(INVITE, { ...settings, typed: 'n' }), ended)
  t.equal(invitations(), 6)
})
