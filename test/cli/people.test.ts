import t from 'tap'
import { fakeAdmin, merchantOf, pageOf } from './admin-harness.ts'
import { refusal } from './harness.ts'
import type { Answer, Request } from './harness.ts'
import { provesLeaves } from './ran.ts'

const AT = '2026-11-21T09:30:00.000Z'
const GRACE = '01a1fd03-0000-7eb7-872f-a2b4358c0001'
const WHY = ['--reason', 'because']
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
  if (method === 'GET') return pageOf([of({ second_factor: false }), of({ ...other, second_factor: true })])
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
  return { status: path.includes('/rotate') ? 200 : 201, json: { ...client, ...secret } }
}

t.test('staff: invited, given roles and removed, by e-mail or by id', async (t) => {
  const admin = await fakeAdmin(t, answer)
  t.match(await admin.run(['staff', 'list']), { code: 0, stdout: /grace@pay\.example +Grace +OPS +invited +no +never/ })
  t.match(
    await admin.run(['staff', 'invite', '--email', 'Grace@pay.example', '--role', 'OPS', '--name', 'Grace H', ...WHY]),
    {
      code: 0,
      stderr: /An invitation goes to Grace@pay\.example[^]*mail show --recipient Grace@pay\.example --links/,
    },
  )
  t.match(await admin.run(['staff', 'role', 'GRACE@pay.example', 'OWNER', '--reason', 'promoted', '-q', 'role']), {
    code: 0,
    stdout: 'OWNER\n',
  })
  t.match(await admin.run(['staff', 'remove', 'a2b4358c0002', ...WHY]), { code: 0 })
  t.match(await admin.run(['staff', 'remove', GRACE, '--reason', 'has left']), { code: 0 })
  t.same(admin.writes(), [
    {
      method: 'POST',
      path: '/api/v1/admin/staff',
      body: { email: 'Grace@pay.example', role: 'OPS', display_name: 'Grace H', reason: 'because' },
    },
    { method: 'PUT', path: `/api/v1/admin/staff/${GRACE}`, body: { role: 'OWNER', reason: 'promoted' } },
    { method: 'DELETE', path: `/api/v1/admin/staff/${ADA}`, body: { reason: 'because' } },
    { method: 'DELETE', path: `/api/v1/admin/staff/${GRACE}`, body: { reason: 'has left' } },
  ])
})

t.test("staff: a program's client is made, listed and revoked; its secret is on standard output alone", async (t) => {
  const admin = await fakeAdmin(t, answer)
  const made = await admin.run([
    'credentials',
    'create',
    '--platform',
    '--role',
    'OPS',
    '--name',
    'ci',
    ...WHY,
    '--json',
  ])
  t.match(JSON.parse(made.stdout), { client_id: 'platform-key-4f7a1c9e', client_secret: 'the-new-secret' })
  t.equal(made.stderr, '')
  t.match(await admin.run(['credentials', 'list', '--platform', '-o', 'id']), {
    code: 0,
    stdout: 'platform-key-4f7a1c9e\n',
  })
  t.match(await admin.run(['credentials', 'revoke', '--platform', 'platform-key-4f7a1c9e', '--reason', 'unused']), {
    code: 0,
    stdout: /Revoked/,
  })
  t.match(await admin.run(['credentials', 'revoke', '--platform', 'platform-key-4f7a1c9e', '--reason', ' ']), {
    code: 2,
  })
  t.same(admin.writes(), [
    { method: 'POST', path: '/api/v1/admin/staff-clients', body: { role: 'OPS', name: 'ci', reason: 'because' } },
    { method: 'DELETE', path: '/api/v1/admin/staff-clients/platform-key-4f7a1c9e', body: { reason: 'unused' } },
  ])
})

t.test('team: invited, given roles and removed, as the merchant', async (t) => {
  const admin = await fakeAdmin(t, answer)
  const run = (...words: string[]) => admin.run([...words, '--client-id', 'acme-server'])
  t.match(await run('team', 'list'), {
    code: 0,
    stdout: /STATE +2ND FACTOR[^]*grace@acme\.example +DEVELOPER +active +no/,
  })
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

t.test("clients are the merchant's, or with --platform those of the platform", async (t) => {
  const admin = await fakeAdmin(t, answer)
  const merchant = ['--client-id', 'acme-server']
  t.match(await admin.run(['credentials', 'list', '-o', 'id', ...merchant]), { stdout: 'acme-key-4f7a1c9e\n' })
  const said = ['credentials', 'list', '-o', 'csv', '--platform', ...merchant]
  t.match(await admin.run(said), { stdout: /^client_id,role,name,[^]*platform-key-4f7a1c9e/ })
  for (const [words, stderr] of [
    [['create', '--name', 'x', ...WHY, ...merchant], /--reason is for the platform's clients/],
    [['revoke', 'acme-key-4f7a1c9e', ...WHY, ...merchant], /--reason is for the platform's clients/],
    [['create', '--name', 'x', '--platform', ...WHY], /--role: must be one of OWNER/],
    [['create', '--name', 'x', '--platform', '--role', 'ADMIN', ...WHY], /--role: must be one of OWNER.*not ADMIN/],
  ] as const)
    t.match(await admin.run(['credentials', ...words]), { code: 2, stdout: '', stderr }, words.join(' '))
  t.same(admin.writes(), [])
})

t.test('a new secret that can not be written says which client it was of, and the way out', async (t) => {
  const admin = await fakeAdmin(t, answer)
  const unwritten = Object.assign(new Error('full'), { code: 'ENOSPC' })
  const run = (...words: string[]) => admin.run([...words, '--client-id', 'acme-server'], { unwritten })
  const made = await run('credentials', 'create', '--name', 'shop')
  t.match(made, { code: 1, stderr: /no space is left.*the secret of the client acme-key-4f7a1c9e is lost/ })
  t.match(made.stderr, /Try: svc .*credentials revoke acme-key-4f7a1c9e\n/)
  t.notMatch(made.stderr, /Keep the secret|the-new-secret/)
  const rotated = await run('credentials', 'rotate', 'acme-server', '--json')
  t.match(JSON.parse(rotated.stderr), {
    error: { code: 'RESULT_NOT_WRITTEN', client_id: String, hint: /credentials rotate acme-server$/ },
  })
  const staff = await run('credentials', 'create', '--platform', '--name', 'ci', '--role', 'OPS', ...WHY)
  t.match(staff, { code: 1, stderr: /Try: svc .*credentials revoke \S+ --platform --reason/ })
  const gone = Object.assign(new Error('gone'), { code: 'EPIPE' })
  const unread = ['credentials', 'create', '--name', 'x', '--client-id', 'acme-server']
  t.match(await admin.run(unread, { unwritten: gone }), { code: 1, stderr: /its reader has gone/ })
})

t.test('an unknown member and an unknown role are reported before anything is changed', async (t) => {
  const admin = await fakeAdmin(t, answer)
  const merchant = ['--client-id', 'acme-server']
  for (const [words, code] of [
    [['staff', 'remove', 'nobody@pay.example', ...WHY], 6],
    [['staff', 'remove', '01a1fd03-0000-7eb7-872f-ffffffffffff', ...WHY], 6],
    [['staff', 'remove', '01a1fd03', ...WHY], 2],
    [['staff', 'role', 'grace@pay.example', 'KING', ...WHY], 2],
    [['staff', 'invite', '--email', 'x@pay.example', '--role', 'ADMIN', ...WHY], 2],
    [['staff', 'invite', '--email', 'x@pay.example', ...WHY], 2],
    [['credentials', 'create', '--platform', '--role', 'OPS', ...WHY], 2],
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
    ['staff', 'invite', '--email', 'x@pay.example', '--role', 'OPS', ...WHY],
    ['staff', 'role', GRACE, 'OWNER', ...WHY],
    ['staff', 'remove', GRACE, ...WHY],
    ['credentials', 'create', '--platform', '--role', 'OPS', '--name', 'x', ...WHY],
    ['credentials', 'revoke', '--platform', 'platform-key-4f7a1c9e', ...WHY],
    ['team', 'invite', '--email', 'x@acme.example', '--role', 'ADMIN', ...merchant],
    ['team', 'role', GRACE, 'FINANCE', ...merchant],
    ['team', 'remove', GRACE, ...merchant],
    ['credentials', 'create', '--name', 'x', ...merchant],
    ['credentials', 'rotate', 'acme-server', ...merchant],
    ['credentials', 'revoke', 'acme-server', ...merchant],
  ]) {
    t.match(await admin.run([...words, '--dry-run']), { code: 0, stdout: /Would send/ }, words.join(' '))
  }
  t.match(await admin.run(['staff', 'invite', '--email', 'no address', '--role', 'OPS', ...WHY, '--dry-run']), {
    code: 2,
    stderr: /email: must be an e-mail address/,
  })
  t.same(admin.writes(), [])
})

t.test('the last OWNER and the last ADMIN stay: exit code 7', async (t) => {
  for (const [words, code] of [
    [['staff', 'remove', GRACE, ...WHY], 'LAST_OWNER'],
    [['team', 'remove', GRACE, '--client-id', 'acme-server'], 'LAST_ADMIN'],
  ] as const) {
    const admin = await fakeAdmin(t, (request) => (request.method === 'GET' ? answer(request) : refusal(409, code)))
    t.match(await admin.run(words), { code: 7 }, code)
  }
})

t.test('an OWNER gives a realm a new key', async (t) => {
  const admin = await fakeAdmin(t, ({ method }) =>
    method === 'GET'
      ? pageOf([merchantOf({ realm_slug: 'acme' })])
      : { json: { realm: 'acme', key_ids: ['new', 'old'] } },
  )
  t.match(await admin.run(['staff', 'rotate-keys']), { code: 2 })
  t.match(await admin.run(['staff', 'rotate-keys', 'acme', ...WHY, '--dry-run']), { code: 0 })
  t.same(admin.writes(), [])
  const asJson = await admin.run(['staff', 'rotate-keys', 'acme', ...WHY, '--json'])
  t.same(JSON.parse(asJson.stdout), { realm: 'acme', key_ids: ['new', 'old'] })
  t.equal(admin.writes().length, 1)
  t.match(await admin.run(['staff', 'rotate-keys', 'acme', '--reason', 'a lost backup']), {
    code: 0,
    stdout: /Realm +acme\nKeys +new, old/,
  })
  t.same(admin.writes().slice(1), [
    { method: 'POST', path: '/api/v1/admin/realms/acme/rotate-keys', body: { reason: 'a lost backup' } },
  ])
})

t.test('what is done to the staff is never done without saying why', async (t) => {
  const admin = await fakeAdmin(t, answer)
  for (const words of [
    ['staff', 'invite', '--email', 'x@pay.example', '--role', 'OPS'],
    ['staff', 'role', GRACE, 'OWNER'],
    ['staff', 'remove', GRACE],
    ['credentials', 'create', '--platform', '--role', 'OPS', '--name', 'x'],
    ['credentials', 'revoke', '--platform', 'platform-key-4f7a1c9e'],
    ['staff', 'rotate-keys', 'acme-ltd'],
  ]) {
    t.match(await admin.run(words), { code: 2, stderr: /--reason/ }, words.join(' '))
    t.match(await admin.run([...words, '--reason', ' ']), { code: 2, stderr: /must not be empty/ }, words.join(' '))
  }
  t.same(admin.requests, [])
})

t.test('an invitation can be read here in the sandbox only, and at the service that the command named', async (t) => {
  const invite = ['team', 'invite', '--email', 'x@acme.example', '--role', 'ADMIN', '--client-id', 'acme-server']
  const add = ['staff', 'invite', '--email', 'x@pay.example', '--role', 'OPS', ...WHY]
  for (const words of [invite, add]) {
    const sandbox = await fakeAdmin(t, answer)
    const { stderr } = await sandbox.run([...words, '--state-dir', '/srv/of ada'])
    t.match(
      stderr,
      /svc --api-url http:\S+ --state-dir '\/srv\/of ada' sandbox mail show --recipient x@\S+ --links --wait 10s\n/,
    )
    const live = await fakeAdmin(t, answer, { mode: 'live' })
    const told = await live.run(words)
    t.match(told, { code: 0, stderr: /An invitation goes to x@/ })
    t.notMatch(told.stderr, /sandbox|mail show/)
  }
})

t.test('a removed member is distinguished from an active one, and one who never signed in is invited', async (t) => {
  const seen = { id: ADA, email: 'ada@pay.example', last_seen_at: AT }
  const gone = { id: ADA, email: 'gone@pay.example', is_active: false }
  const admin = await fakeAdmin(t, ({ path }) =>
    path.includes('/staff')
      ? pageOf([{}, seen, gone].map((more) => staffOf({ ...more, second_factor: null })))
      : pageOf([{}, { id: ADA, is_active: false }].map((more) => memberOf({ ...more, second_factor: null }))),
  )
  t.match(await admin.run(['staff', 'list']), {
    stdout: /grace.* invited .*\n.*ada@pay.* active .*\n.*gone.* removed /,
  })
  t.match(await admin.run(['team', 'list', '--client-id', 'acme-server']), { stdout: / active .*\n.* removed / })
})

t.test('a client that is not there is reported with the command that lists those that are', async (t) => {
  const admin = await fakeAdmin(t, () => refusal(404, 'CREDENTIAL_NOT_FOUND'))
  const merchant = ['--client-id', 'acme-server']
  for (const [words, hint] of [
    [['credentials', 'rotate', 'nope', ...merchant], /Try: svc .*credentials list/],
    [['credentials', 'revoke', 'nope', ...merchant], /Try: svc .*credentials list/],
    [['credentials', 'revoke', '--platform', 'nope', ...WHY], /Try: svc .*credentials list --platform/],
  ] as const)
    t.match(await admin.run(words), { code: 6, stderr: hint }, words.join(' '))
})

t.test('a next step among the staff says that it wants a reason', async (t) => {
  const admin = await fakeAdmin(t, (request) =>
    request.method === 'GET' ? answer(request) : refusal(409, request.method === 'POST' ? 'USER_EXISTS' : 'LAST_OWNER'),
  )
  t.match(await admin.run(['staff', 'remove', GRACE, ...WHY]), { stderr: /staff role <email> OWNER --reason "\.\.\."/ })
  t.match(await admin.run(['staff', 'invite', '--email', 'x@pay.example', '--role', 'OPS', ...WHY]), {
    stderr: /staff role x@pay\.example OPS --reason "\.\.\."/,
  })
})

t.test('a misspelt member is refused before a secret is made that could not be shown again', async (t) => {
  const admin = await fakeAdmin(t, answer)
  for (const words of [
    ['credentials', 'create', '--name', 'shop', '--client-id', 'acme-server'],
    ['credentials', 'rotate', 'acme-server', '--client-id', 'acme-server'],
    ['credentials', 'create', '--platform', '--name', 'x', '--role', 'OPS', ...WHY],
    ['secret', 'rotate', '--client-id', 'acme-server'],
    ['register', '--company', 'Acme Ltd', '--trading-name', 'Acme', '--email', 'ada@acme.example'],
  ]) {
    for (const flag of [['-q', 'secrt'], ['--json=secrt']])
      t.match(
        await admin.run([...words, ...flag]),
        { code: 2, stdout: '', stderr: /there is no field .*secrt.* here; there are / },
        words.join(' '),
      )
  }
  t.same(admin.writes(), [])
})

t.test('whoami says in words what one may do, broken between them', async (t) => {
  const admin = await fakeAdmin(t, () => ({
    json: {
      kind: 'platform',
      realm: 'platform',
      client_id: null,
      subject: 'ada',
      name: 'ada@pay.example',
      role: 'SUPPORT',
      permissions: ['read merchants', 'something newer'],
      merchant: null,
      expires_at: null,
    },
  }))
  const words = ['whoami', '--platform']
  t.match(
    (await admin.run(words)).stdout,
    /May +see and explain merchants, their disputes and the outbox .*; something newer\n/,
  )
  const { stdout } = await admin.run(words, { tty: true, columns: 60, env: { NO_COLOR: '1' } })
  t.ok(
    stdout.split('\n').every((line) => line.length <= 60 || line.includes('http')),
    stdout,
  )
  t.same(JSON.parse((await admin.run([...words, '--json'])).stdout).permissions, ['read merchants', 'something newer'])
})

t.test('a program gets a hint to another client, and a person to another role', async (t) => {
  const admin = await fakeAdmin(t, () => refusal(403, 'FORBIDDEN_ROLE'))
  const hint = async (words: string[]): Promise<string> => (await admin.run(words)).stderr
  t.match(
    await hint(['credentials', 'list', '--client-id', 'acme-server']),
    /svc .*credentials create --name <a-name> --role/,
  )
  t.notMatch(await hint(['credentials', 'list', '--client-id', 'acme-server']), /team role/)
  t.match(await hint(['staff', 'list']), /svc .*staff role <your-email> <a-role> --reason/)
  t.match(await hint(['staff', 'list', '--client-id', 'platform-key-1']), /svc .*credentials create --platform --name/)
})

t.test('a client for payments only is called so, whatever the service calls that', async (t) => {
  const admin = await fakeAdmin(t, () => ({
    json: {
      kind: 'merchant',
      realm: null,
      client_id: 'acme-server',
      subject: 'acme-server',
      name: 'acme-server',
      role: 'NONE',
      permissions: [],
      merchant: null,
      expires_at: null,
    },
  }))
  t.match(await admin.run(['whoami', '--client-id', 'acme-server']), { stdout: /Role +payments only \(merchant\)/ })
})

provesLeaves(t, import.meta.filename)
