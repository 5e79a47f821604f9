import t from 'tap'
import { fakeAdmin, pageOf } from './admin-harness.ts'
import { refusal } from './harness.ts'
import type { Answer, Request } from './harness.ts'

const AT = '2026-11-21T09:30:00.000Z'
const GRACE = '01a1fd03-0000-7eb7-872f-a2b4358c0001'
const ADA = '01a1fd03-0000-7eb7-872f-a2b4358c0002'

function staffOf(more: object = {}): Record<string, unknown> {
  return {
    id: GRACE,
    keycloak_user_id: 'sub',
    email: 'grace@pay.example',
    display_name: 'Grace',
    role: 'OPS',
    is_active: true,
    created_at: AT,
    last_seen_at: null,
    ...more,
  }
}

function memberOf(more: object = {}): Record<string, unknown> {
  return {
    id: GRACE,
    email: 'grace@acme.example',
    role: 'DEVELOPER',
    is_active: true,
    invited_by: 'ada@acme.example',
    created_at: AT,
    ...more,
  }
}

function answer({ method, path, body }: Request): Answer {
  const isStaff = path.includes('/staff')
  const of = isStaff ? staffOf : memberOf
  const other = { id: ADA, email: isStaff ? 'ada@pay.example' : 'ada@acme.example' }
  if (path.includes('clients') || path.includes('credentials')) return clientAnswer({ method, path, isStaff })
  if (method === 'GET') return pageOf([of(), of(other)])
  const { reason: _reason, ...changes } = body === '' ? { reason: '' } : JSON.parse(body)
  return { status: method === 'POST' ? 201 : 200, json: of(changes) }
}

function clientAnswer({ method, path, isStaff }: { method: string; path: string; isStaff: boolean }): Answer {
  const client = {
    client_id: isStaff ? 'platform-key-4f7a1c9e' : 'acme-key-4f7a1c9e',
    role: isStaff ? 'OPS' : null,
    name: 'ci',
    created_by: 'ada',
    created_at: AT,
    ...(isStaff ? {} : { kind: 'credential' }),
  }
  if (method === 'GET') return pageOf([client])
  if (method === 'DELETE') return { json: { ...client, revoked_at: AT } }
  const secret = { client_secret: 'the-new-secret', token_endpoint: 'http://idp.example/realms/acme/token' }
  return { status: path.endsWith('/rotate') ? 200 : 201, json: { ...client, ...secret } }
}

t.test('staff: invited, given roles and removed, by e-mail or by id', async (t) => {
  const admin = await fakeAdmin(t, answer)
  t.match(await admin.run(['staff', 'list']), { code: 0, stdout: /grace@pay\.example +Grace +OPS +never/ })
  t.match(await admin.run(['staff', 'add', '--email', 'Grace@pay.example', '--role', 'OPS', '--name', 'Grace H']), {
    code: 0,
    stderr: /svc mail show --recipient Grace@pay\.example --links/,
  })
  t.match(await admin.run(['staff', 'role', 'GRACE@pay.example', 'OWNER', '--reason', 'promoted', '-q', 'role']), {
    code: 0,
    stdout: 'OWNER\n',
  })
  t.match(await admin.run(['staff', 'remove', 'a2b4358c0002']), { code: 0 })
  t.same(admin.writes(), [
    {
      method: 'POST',
      path: '/api/v1/admin/staff',
      body: { email: 'Grace@pay.example', role: 'OPS', display_name: 'Grace H' },
    },
    { method: 'PUT', path: `/api/v1/admin/staff/${GRACE}`, body: { role: 'OWNER', reason: 'promoted' } },
    { method: 'DELETE', path: `/api/v1/admin/staff/${ADA}`, body: null },
  ])
})

t.test("staff: a program's client is made, listed and revoked; its secret is on standard output alone", async (t) => {
  const admin = await fakeAdmin(t, answer)
  const made = await admin.run(['staff', 'create-client', '--role', 'OPS', '--name', 'ci', '--json'])
  t.match(JSON.parse(made.stdout), { client_id: 'platform-key-4f7a1c9e', client_secret: 'the-new-secret' })
  t.equal(made.stderr, '')
  t.match(await admin.run(['staff', 'clients', '-o', 'id']), { code: 0, stdout: 'platform-key-4f7a1c9e\n' })
  t.match(await admin.run(['staff', 'revoke-client', 'platform-key-4f7a1c9e']), { code: 0, stdout: /Revoked/ })
  t.same(admin.writes(), [
    { method: 'POST', path: '/api/v1/admin/staff-clients', body: { role: 'OPS', name: 'ci' } },
    { method: 'DELETE', path: '/api/v1/admin/staff-clients/platform-key-4f7a1c9e', body: null },
  ])
})

t.test('team: invited, given roles and removed, as the merchant', async (t) => {
  const admin = await fakeAdmin(t, answer)
  const run = (...words: string[]) => admin.run([...words, '--client-id', 'acme-server'])
  t.match(await run('team', 'list'), { code: 0, stdout: /grace@acme\.example +DEVELOPER/ })
  t.match(await run('team', 'invite', '--email', 'new@acme.example', '--role', 'FINANCE'), { code: 0 })
  t.match(await run('team', 'role', GRACE, 'ADMIN', '-q', 'role'), { code: 0, stdout: 'ADMIN\n' })
  t.match(await run('team', 'remove', 'ada@acme.example'), { code: 0 })
  t.same(admin.writes(), [
    { method: 'POST', path: '/api/v1/portal/team', body: { email: 'new@acme.example', role: 'FINANCE' } },
    { method: 'PUT', path: `/api/v1/portal/team/${GRACE}`, body: { role: 'ADMIN' } },
    { method: 'DELETE', path: `/api/v1/portal/team/${ADA}`, body: null },
  ])
  t.ok(admin.requests.every(({ headers }) => headers['x-merchant-client-id'] === 'acme-server'))
})

t.test('credentials: made with a role or for payments only, rotated, revoked', async (t) => {
  const admin = await fakeAdmin(t, answer)
  const run = (...words: string[]) => admin.run([...words, '--client-id', 'acme-server'])
  t.match(await run('credentials', 'list'), { code: 0, stdout: /acme-key-4f7a1c9e +credential +payments only/ })
  t.match(await run('credentials', 'create', '--name', 'shop'), {
    code: 0,
    stdout: /Client secret +the-new-secret/,
    stderr: /shown this once[^]*SVC_CLIENT_ID=acme-key-4f7a1c9e[^]*curl -s http:\/\/idp/,
  })
  t.match(await run('credentials', 'create', '--name', 'ci', '--role', 'DEVELOPER'), { code: 0 })
  t.match(await run('credentials', 'rotate', 'acme-server', '-q', 'client_secret'), { stdout: 'the-new-secret\n' })
  t.match(await run('credentials', 'revoke', 'acme-key-4f7a1c9e'), { code: 0 })
  t.same(admin.writes(), [
    { method: 'POST', path: '/api/v1/portal/api-credentials', body: { name: 'shop', role: null } },
    { method: 'POST', path: '/api/v1/portal/api-credentials', body: { name: 'ci', role: 'DEVELOPER' } },
    { method: 'POST', path: '/api/v1/portal/api-credentials/acme-server/rotate', body: null },
    { method: 'DELETE', path: '/api/v1/portal/api-credentials/acme-key-4f7a1c9e', body: null },
  ])
})

t.test('whoever is not there, and roles that are none, are told before anything is changed', async (t) => {
  const admin = await fakeAdmin(t, answer)
  const merchant = ['--client-id', 'acme-server']
  for (const [words, code] of [
    [['staff', 'remove', 'nobody@pay.example'], 6],
    [['staff', 'remove', '01a1fd03-0000-7eb7-872f-ffffffffffff'], 6],
    [['staff', 'remove', '01a1fd03'], 2],
    [['staff', 'role', 'grace@pay.example', 'KING'], 2],
    [['staff', 'add', '--email', 'x@pay.example', '--role', 'ADMIN'], 2],
    [['staff', 'add', '--email', 'x@pay.example'], 2],
    [['staff', 'create-client', '--role', 'OPS'], 2],
    [['team', 'remove', 'nobody@acme.example', ...merchant], 6],
    [['team', 'role', 'grace@acme.example', 'OWNER', ...merchant], 2],
    [['credentials', 'create', '--name', 'x', '--role', 'OPS', ...merchant], 2],
    [['credentials', 'rotate', ...merchant], 2],
  ] as const) {
    t.match(await admin.run(words), { code }, words.join(' '))
  }
  t.same(admin.writes(), [])
})

t.test('a dry run of each shows its request, checks it, and sends none', async (t) => {
  const admin = await fakeAdmin(t, answer)
  const merchant = ['--client-id', 'acme-server']
  for (const words of [
    ['staff', 'add', '--email', 'x@pay.example', '--role', 'OPS'],
    ['staff', 'role', GRACE, 'OWNER'],
    ['staff', 'remove', GRACE],
    ['staff', 'create-client', '--role', 'OPS', '--name', 'x'],
    ['staff', 'revoke-client', 'platform-key-4f7a1c9e'],
    ['team', 'invite', '--email', 'x@acme.example', '--role', 'ADMIN', ...merchant],
    ['team', 'role', GRACE, 'FINANCE', ...merchant],
    ['team', 'remove', GRACE, ...merchant],
    ['credentials', 'create', '--name', 'x', ...merchant],
    ['credentials', 'rotate', 'acme-server', ...merchant],
    ['credentials', 'revoke', 'acme-server', ...merchant],
  ]) {
    t.match(await admin.run([...words, '--dry-run']), { code: 0, stdout: /Would send/ }, words.join(' '))
  }
  t.match(await admin.run(['staff', 'add', '--email', 'no address', '--role', 'OPS', '--dry-run']), {
    code: 2,
    stderr: /email: must be an e-mail address/,
  })
  t.same(admin.writes(), [])
})

t.test('the last OWNER and the last ADMIN stay: exit code 7', async (t) => {
  for (const [words, code] of [
    [['staff', 'remove', GRACE], 'LAST_OWNER'],
    [['team', 'remove', GRACE, '--client-id', 'acme-server'], 'LAST_ADMIN'],
  ] as const) {
    const admin = await fakeAdmin(t, (request) => (request.method === 'GET' ? answer(request) : refusal(409, code)))
    t.match(await admin.run(words), { code: 7 }, code)
  }
})
