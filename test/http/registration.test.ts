import t from 'tap'
import { createHash } from 'node:crypto'
import { testService } from '../support/app.ts'
import { plantHalfMade, register, registrationBody, registrationRow } from '../support/registrations.ts'
import { countRows } from '../support/rows.ts'

const service = await testService(t, { env: { SVC_IDENTITY: 'embedded' } })
const { owner, call } = service
const [ops, support] = [await service.operator('OPS'), await service.operator('SUPPORT')]
const REPAIR = '/api/v1/admin/registrations/acme-ltd/repair'

const BAD: [name: string, body: unknown, path: string][] = [
  ['no company', { ...registrationBody(), company_name: undefined }, 'company_name'],
  ['an empty company', registrationBody({ company_name: '' }), 'company_name'],
  ['a company of nothing usable', registrationBody({ company_name: '!!!' }), 'company_name'],
  ['a company that is too long', registrationBody({ company_name: 'x'.repeat(141) }), 'company_name'],
  ['a number for a name', registrationBody({ trading_name: 7 }), 'trading_name'],
  ['no address', { ...registrationBody(), admin_email: undefined }, 'admin_email'],
  ['no address at all', registrationBody({ admin_email: 'ada' }), 'admin_email'],
  ['two addresses', registrationBody({ admin_email: 'ada@acme.example, bob@acme.example' }), 'admin_email'],
  [
    'an address with a line break',
    registrationBody({ admin_email: 'ada@acme.example\nBcc: x@y.example' }),
    'admin_email',
  ],
  ...['kyb_status', 'fee_flat', 'fee_percentage', 'realm_slug', 'client_id', 'is_active', 'merchant_id', 'role'].map(
    (name): [string, unknown, string] => [`a ${name} of its own`, registrationBody({ [name]: 'APPROVED' }), name],
  ),
]

t.test('an invalid body is rejected with its field, and creates nothing', async (t) => {
  const before = await countRows(owner)
  for (const [name, body, path] of BAD) {
    const answer = await call('POST', '/api/v1/portal/register', { body })
    t.match(answer, { status: 400, body: { code: 'VALIDATION_FAILED', errors: [{ path }] } }, name)
  }
  t.match(await call('POST', '/api/v1/portal/register', {}), { status: 400 }, 'no body')
  t.match(
    await call('POST', '/api/v1/portal/register', { raw: '{', headers: { 'content-type': 'application/json' } }),
    {
      status: 400,
      body: { code: 'INVALID_JSON' },
    },
  )
  t.same(await countRows(owner), before)
})

t.test('all invalid fields are reported at once', async (t) => {
  const { body } = await call('POST', '/api/v1/portal/register', { body: { company_name: '', admin_email: 'x' } })
  t.same(body.errors.map(({ path }: { path: string }) => path).toSorted(), [
    'admin_email',
    'company_name',
    'trading_name',
  ])
})

t.test('registering needs no token, and a token of any kind changes nothing', async (t) => {
  t.match(await register(service, { company_name: 'First' }), { status: 201 })
  const headers = { authorization: 'Bearer nonsense' }
  const body = registrationBody({ company_name: 'Second' })
  t.match(await call('POST', '/api/v1/portal/register', { headers, body }), { status: 201 })
})

t.test('operators list and repair incomplete registrations; read-only operators see no address', async (t) => {
  await plantHalfMade(owner)
  const listed = await call('GET', '/api/v1/admin/registrations', { headers: ops })
  const shown = { slug: 'acme-ltd', status: 'PROVISIONING', admin_email: 'ada@acme.example', problems: [/incomplete/] }
  t.match(listed, { status: 200, body: { data: [shown], has_more: false, next_cursor: null } })
  t.match(await call('GET', '/api/v1/admin/registrations', { headers: support }), {
    body: { data: [{ slug: 'acme-ltd', admin_email: 'a***@acme.example' }] },
  })
  t.match(await call('POST', REPAIR, { headers: support }), { status: 403, body: { code: 'FORBIDDEN_ROLE' } })
  t.match(await call('POST', REPAIR, {}), { status: 401 })
  t.match(await call('POST', REPAIR, { headers: ops, body: { rollback: 'yes' } }), { status: 400 })
  t.match(await call('POST', REPAIR, { headers: ops }), {
    status: 200,
    body: { status: 'COMPLETE', repaired: [/completed the registration/] },
  })
  t.match(await registrationRow(owner), { status: 'COMPLETE' })
  t.match(await call('POST', REPAIR, { headers: ops, body: { rollback: true, reason: 'x' } }), {
    status: 409,
    body: { code: 'REGISTRATION_COMPLETE', next: String },
  })
})

t.test('read-only operators see no address in failures either', async (t) => {
  await plantHalfMade(owner, { slug: 'told' })
  await owner.query(
    `update registration set admin_email = $1, failure = $2, warnings = array['asked ' || $1] where slug = 'told'`,
    [`jonathan.smith'x@mask.example`, `550 <jonathan.smith'x@mask.example> is nobody`],
  )
  const told = async (headers: Record<string, string>) =>
    (await call('GET', '/api/v1/admin/registrations', { headers })).body.data.find(
      ({ slug }: { slug: string }) => slug === 'told',
    )
  t.match(await told(ops), {
    admin_email: /^jonathan\.smith'x@/,
    failure: /jonathan/,
    problems: [/jonathan/],
    warnings: [/jonathan/],
  })
  const masked = await told(support)
  t.match(masked, {
    admin_email: 'j***@mask.example',
    failure: '550 <j***@mask.example> is nobody',
    problems: [/<j\*\*\*@mask\.example>/],
    warnings: ['asked j***@mask.example'],
  })
  t.notMatch(JSON.stringify(masked), /onathan|smith|'x@/)
})

t.test('one that is worked on waits, and one that is not there is not found', async (t) => {
  await plantHalfMade(owner, { slug: 'busy', leaseEndedAgo: '-1 minute' })
  t.match(await call('POST', '/api/v1/admin/registrations/busy/repair', { headers: ops }), {
    status: 409,
    body: { code: 'REGISTRATION_UNDER_WAY' },
  })
  for (const slug of ['nobody', 'A', 'a%2Fb', '%00', 'x'.repeat(300)]) {
    const answer = await call('POST', `/api/v1/admin/registrations/${slug}/repair`, { headers: ops })
    t.match(answer, { status: 404, body: { code: 'REGISTRATION_NOT_FOUND' } }, slug)
  }
})

t.test('no answer and no log of a registration says more than its caller may know', async (t) => {
  const first = await register(service, { company_name: 'Secretive' })
  const second = await register(service, { company_name: 'Secretive' })
  t.match(second, { status: 409, body: { code: 'REALM_EXISTS', next: String } })
  t.notMatch(second.text, new RegExp(`${first.body.merchant_id}|ada@acme`))
  const hash = createHash('sha256').update(first.body.client_secret).digest('hex')
  t.notMatch(first.text, new RegExp(hash))
})
