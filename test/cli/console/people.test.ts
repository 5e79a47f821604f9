import { join } from 'node:path'
import t from 'tap'
import type { Test } from 'tap'
import { permissionsOf } from '../../../src/lib/permissions.ts'
import { fakeIdentity } from '../auth/fake-identity.ts'
import { refusal, runCli } from '../harness.ts'
import type { Answer, Request } from '../harness.ts'
import { openConsole } from '../../support/terminal.ts'

/* Staff and team in the console: who has a second factor, and what needs a sign-in with it. */

const AT = '2026-11-21T09:30:00.000Z'
const GRACE = '01a1fd03-0000-7eb7-872f-a2b4358c0001'
const ADA = '01a1fd03-0000-7eb7-872f-a2b4358c0002'

function whoamiOf(kind: 'platform' | 'merchant'): object {
  const role = kind === 'platform' ? 'OWNER' : 'ADMIN'
  const more = { client_id: null, subject: 'u-1', name: 'ada@pay.example', merchant: null, expires_at: null }
  return { kind, realm: kind === 'platform' ? 'platform' : 'acme-ltd', role, permissions: permissionsOf(role), ...more }
}

function staffOf(id: string, email: string, more: object): Record<string, unknown> {
  const times = { created_at: AT, last_seen_at: AT }
  return {
    id,
    keycloak_user_id: id,
    email,
    display_name: email.split('@')[0],
    role: 'OPS',
    is_active: true,
    ...times,
    ...more,
  }
}

const STAFF = [
  staffOf(ADA, 'ada@pay.example', { role: 'OWNER', keycloak_user_id: 'u-1', second_factor: false }),
  staffOf(GRACE, 'grace@pay.example', { second_factor: true }),
]
const TEAM = ['ada', 'grace'].map((name) => ({
  id: name === 'ada' ? 'u-1' : GRACE,
  email: `${name}@acme.example`,
  role: 'ADMIN',
  is_active: true,
  invited_by: 'ada',
  created_at: AT,
  second_factor: name === 'ada',
}))

async function openPeople(t: Test, kind: 'platform' | 'merchant', answer: (request: Request) => Answer | undefined) {
  const fake = await fakeIdentity(t, {
    answer: (request) => (request.path === '/api/v1/whoami' ? { json: whoamiOf(kind) } : answer(request)),
  })
  const cwd = t.testdir({})
  const SVC_CONFIG_DIR = join(cwd, 'config')
  const where = kind === 'platform' ? ['--platform'] : ['--realm', 'acme-ltd']
  const login = await runCli(['login', ...where, '--device', '--api-url', fake.url], { cwd, env: { SVC_CONFIG_DIR } })
  t.equal(login.code, 0, login.stderr)
  const words = ['--screen', kind === 'platform' ? 'staff' : 'team', '--interval', '1s']
  return { fake, console: openConsole(t, { url: '', cwd, env: { SVC_CONFIG_DIR }, words, columns: 120, rows: 30 }) }
}

t.test('an owner sees who has a second factor; a reset needs a new sign-in, which L makes', async (t) => {
  const hasSignedIn = (): boolean => fake.requests.some(({ body }) => body.includes('acr_values=2'))
  const { fake, console } = await openPeople(t, 'platform', ({ method, path }) => {
    if (path === '/api/v1/admin/staff') return { json: { data: STAFF, has_more: false, next_cursor: null } }
    if (method !== 'POST' || path !== `/api/v1/admin/staff/${GRACE}/reset-factor`) return undefined
    const { second_factor: _factor, ...member } = STAFF[1] ?? {}
    return hasSignedIn() ? { json: member } : refusal(401, 'INSUFFICIENT_USER_AUTHENTICATION')
  })
  await console.until(/You have no second factor; to set one up: svc login --second-factor/)
  await console.until(/2ND FACTOR[^]*ada@pay\.example .* no [^]*grace@pay\.example .* yes /)
  console.press('down', 'F')
  const reset = async (): Promise<void> => {
    await console.until(/Reason, kept in the audit trail/)
    console.type('lost the phone')
    console.press('enter')
    await console.until(/Enter will remove the second factor of grace@pay\.example/)
    console.press('enter')
  }
  await reset()
  await console.until(/Try: L behind this, which is svc login --second-factor/)
  console.press('esc')
  await console.until(/That needs a new sign-in with a second factor: L/)
  console.press('L')
  await console.until(/Done: signed in/)
  t.ok(hasSignedIn())
  await console.until((text) => !/That needs a new sign-in/.test(text) && /grace@pay\.example/.test(text))
  console.press('F')
  await reset()
  await console.until(/Done: reset the second factor of grace@pay\.example/)
  console.press('ctrl-c')
  t.match(await console.ended(), { code: 0, isPlain: true })
})

t.test('an administrator sees the team of the merchant', async (t) => {
  const { console } = await openPeople(t, 'merchant', ({ path }) =>
    path === '/api/v1/portal/team' ? { json: { data: TEAM, has_more: false, next_cursor: null } } : undefined,
  )
  await console.until(/You have a second factor; to change it: svc login --second-factor/)
  console.press('down', 'enter')
  await console.until(/grace@acme\.example, ADMIN\s[^]*Second factor: no/)
  console.press('esc', 'ctrl-c')
  t.match(await console.ended(), { code: 0, isPlain: true })
})
