import { randomUUID } from 'node:crypto'
import t from 'tap'
import { testService } from '../support/app.ts'
import type { Answer, CallOptions } from '../support/app.ts'
import { register } from '../support/registrations.ts'
import { countRows } from '../support/rows.ts'

const service = await testService(t, { env: { SVC_IDENTITY: 'embedded' } })
const { owner } = service
const headers = {
  OWNER: await service.operator('OWNER'),
  OPS: await service.operator('OPS'),
  SUPPORT: await service.operator('SUPPORT'),
}
const { body: acme } = await register(service)
const PATH = `/api/v1/admin/merchants/${acme.merchant_id}`

function call(
  method: 'GET' | 'PUT',
  path: string,
  as: keyof typeof headers,
  options: CallOptions = {},
): Promise<Answer> {
  return service.call(method, path, { ...options, headers: headers[as] })
}

const CHANGES: [name: string, body: Record<string, unknown>, shown: Record<string, unknown>][] = [
  ['kyb', { kyb_status: 'APPROVED' }, { kyb_status: 'APPROVED' }],
  ['hold', { payout_held: true }, { payout_held: true, payout_held_at: String, payout_held_by: String }],
  ['active', { is_active: false }, { is_active: false }],
  ['active', { is_active: true }, { is_active: true }],
]

t.test(
  'every change returns the whole merchant, and is audited with actor, time, reason, before and after',
  async (t) => {
    for (const [name, body, shown] of CHANGES) {
      const changed = await call('PUT', `${PATH}/${name}`, 'OPS', { body: { ...body, reason: `because of ${name}` } })
      t.match(changed, { status: 200, body: { id: acme.merchant_id, admin_email: 'ada@acme.example', ...shown } }, name)
      const again = await call('PUT', `${PATH}/${name}`, 'OPS', { body: { ...body, reason: 'again' } })
      t.same(again.body, changed.body, 'the same again is no change')
      const { body: one } = await call('GET', PATH, 'OPS')
      t.same(one.actions[0].after[Object.keys(body)[0] ?? ''], Object.values(body)[0])
      t.match(one.actions[0], {
        action: `merchant.${name}`,
        actor: /^platform-key-/,
        actor_id: String,
        actor_role: 'OPS',
        realm_slug: one.realm_slug,
        reason: `because of ${name}`,
        before: Object,
        created_at: /^\d{4}-.*Z$/,
        action_hash: /^[0-9a-f]{64}$/,
      })
    }
    const { body } = await call('GET', PATH, 'OPS')
    t.equal(body.actions.length, CHANGES.length + 1, 'and the registration')
    t.equal(body.actions.at(-1).action, 'merchant.register')
  },
)

t.test('the list has its filters and its pages', async (t) => {
  await register(service, { company_name: 'Second Ltd' })
  const first = await call('GET', '/api/v1/admin/merchants?limit=1', 'SUPPORT')
  t.match(first, { status: 200, body: { data: [{ realm_slug: 'second-ltd' }], has_more: true, next_cursor: String } })
  const second = await call('GET', `/api/v1/admin/merchants?limit=1&cursor=${first.body.next_cursor}`, 'SUPPORT')
  t.match(second, { body: { data: [{ realm_slug: 'acme-ltd' }], has_more: false, next_cursor: null } })
  const held = await call('GET', '/api/v1/admin/merchants?payout_held=true&kyb_status=APPROVED&search=acme', 'OPS')
  t.match(held, { body: { data: [{ id: acme.merchant_id }] } })
  for (const query of [
    'limit=0',
    'limit=101',
    'kyb_status=approved',
    'payout_held=1',
    'cursor=x',
    'search=',
    'search=%00',
    'x=1',
    'order=up',
  ]) {
    t.match(await call('GET', `/api/v1/admin/merchants?${query}`, 'OPS'), { status: 400 }, query)
  }
})

t.test('SUPPORT reads every address masked, and no secret is ever shown', async (t) => {
  await call('PUT', `${PATH}/hold`, 'OPS', { body: { payout_held: false, reason: 'ask bob@acme.example' } })
  const one = await call('GET', PATH, 'SUPPORT')
  t.match(one.body, { admin_email: 'a***@acme.example', actions: [{ reason: 'ask b***@acme.example' }] })
  const many = await call('GET', '/api/v1/admin/merchants', 'SUPPORT')
  for (const answer of [one, many]) t.notMatch(answer.text, /ada@|bob@/)
  t.match((await call('GET', PATH, 'OWNER')).body, { admin_email: 'ada@acme.example' })
  for (const answer of [one, many, await call('GET', PATH, 'OWNER')]) {
    t.notMatch(answer.text, /secret|v1\.|payer/i)
    t.notOk(answer.text.includes(acme.webhook_signing_secret))
  }
})

t.test('SUPPORT changes nothing, OPS reads no audit, and all other callers are rejected', async (t) => {
  const before = await countRows(owner)
  for (const [name, body] of CHANGES) {
    t.match(
      await call('PUT', `${PATH}/${name}`, 'SUPPORT', { body }),
      { status: 403, body: { code: 'FORBIDDEN_ROLE' } },
      name,
    )
    t.match(await service.call('PUT', `${PATH}/${name}`, { body }), { status: 401 }, name)
  }
  for (const role of ['OPS', 'SUPPORT'] as const) {
    t.match(await call('GET', '/api/v1/admin/audit', role), { status: 403, body: { code: 'FORBIDDEN_ROLE' } })
  }
  t.match(await call('GET', '/api/v1/admin/audit?limit=2', 'OWNER'), {
    status: 200,
    body: { data: [{}, {}], has_more: true },
  })
  const merchant = await service.merchant()
  for (const path of ['/api/v1/admin/merchants', PATH, '/api/v1/admin/audit']) {
    t.match(await service.call('GET', path, { merchant }), { status: 403, body: { code: 'WRONG_REALM' } }, path)
    t.match(await service.call('GET', path, { headers: { 'x-platform-user': 'ada' } }), { status: 401 }, path)
  }
  t.same((await countRows(owner))['public.operator_actions'], before['public.operator_actions'])
})

const BAD: [name: string, body: unknown, path: string][] = [
  ['kyb', {}, 'kyb_status'],
  ['kyb', { kyb_status: 'approved' }, 'kyb_status'],
  ['kyb', { kyb_status: 'CLOSED' }, 'kyb_status'],
  ['kyb', { kyb_status: 'APPROVED', payout_held: true }, 'payout_held'],
  ['kyb', { kyb_status: 'APPROVED', reason: '' }, 'reason'],
  ['kyb', { kyb_status: 'APPROVED', reason: ' \n\t ' }, 'reason'],
  ['hold', { payout_held: true, reason: '\u00a0' }, 'reason'],
  ['kyb', { kyb_status: 'APPROVED', reason: 'x'.repeat(501) }, 'reason'],
  ['hold', { payout_held: 'true' }, 'payout_held'],
  ['hold', { payout_held: true, payout_held_by: 'somebody else' }, 'payout_held_by'],
  ['hold', { payout_held: null }, 'payout_held'],
  ['active', { is_active: 0 }, 'is_active'],
  ['active', { is_active: true, client_id: 'x' }, 'client_id'],
]

t.test('an invalid body is rejected with its field', async (t) => {
  for (const [name, body, path] of BAD) {
    const answer = await call('PUT', `${PATH}/${name}`, 'OPS', { body })
    t.match(answer, { status: 400, body: { errors: [{ path }] } }, `${name} ${JSON.stringify(body).slice(0, 60)}`)
  }
  const pending = await call('PUT', `${PATH}/kyb`, 'OPS', { body: { kyb_status: 'PENDING' } })
  t.match(pending, { status: 409, body: { code: 'KYB_TRANSITION_INVALID', next: String } })
})

t.test('a removal may have a reason, which is audited and must not be blank', async (t) => {
  const asOwner = { headers: headers.OWNER }
  const body = { email: 'leaver@svc.example', role: 'SUPPORT' }
  const { body: person } = await service.call('POST', '/api/v1/admin/staff', { ...asOwner, body })
  const client = { name: 'nightly', role: 'SUPPORT' }
  const { body: program } = await service.call('POST', '/api/v1/admin/staff-clients', { ...asOwner, body: client })
  const paths = [`/api/v1/admin/staff/${person.id}`, `/api/v1/admin/staff-clients/${program.client_id}`]
  for (const path of paths) {
    for (const blank of ['', ' ', '\n\t', 'x'.repeat(501)]) {
      const answer = await service.call('DELETE', path, { ...asOwner, body: { reason: blank } })
      t.match(answer, { status: 400, body: { errors: [{ path: 'reason' }] } }, `${path} "${blank.slice(0, 9)}"`)
    }
    // Addresses are logged, by proxies too, and a reason is nobody else's business.
    t.match(await service.call('DELETE', `${path}?reason=left%20us`, asOwner), { status: 400 })
    t.match(await service.call('DELETE', path, { ...asOwner, body: { reason: 'left us' } }), { status: 200 })
  }
  const { body: audit } = await service.call('GET', '/api/v1/admin/audit?limit=2', asOwner)
  t.match(audit.data, [
    { action: 'staff.client_revoke', reason: 'left us', actor_role: 'OWNER', actor_id: String },
    { action: 'staff.remove', reason: 'left us', actor_role: 'OWNER', actor_id: String },
  ])
  const { rows } = await owner.query('select actor_id from operator_actions order by ordinal desc limit 1')
  t.equal(audit.data[0].actor_id, rows[0].actor_id)
})

t.test('an unknown id is the same 404, whatever its form', async (t) => {
  const asked = [randomUUID(), 'nonsense', "' or 1=1 --", '%00', 'x'.repeat(200)].map((id) => encodeURI(id))
  for (const id of asked) {
    const path = `/api/v1/admin/merchants/${id}`
    const answers = [
      await call('GET', path, 'OPS'),
      ...(await Promise.all(CHANGES.map(([name, body]) => call('PUT', `${path}/${name}`, 'OPS', { body })))),
    ]
    for (const { status, body } of answers) {
      t.match({ status, body }, { status: 404, body: { code: 'MERCHANT_NOT_FOUND', error: 'merchant not found' } }, id)
    }
  }
})
