import t from 'tap'
import type { Test } from 'tap'
import type { KybStatus } from '../../src/wire/admin.ts'
import { MERCHANT_ID, fakeAdmin, merchantOf, pageOf } from './admin-harness.ts'
import type { FakeAdmin } from './admin-harness.ts'
import { PAYMENT_ID, paymentOf } from './harness.ts'
import type { Answer, Request } from './harness.ts'

const AT = '2026-11-21T09:30:00.000Z'
const PERSON = { id: '01a1fd03-0000-7eb7-872f-a2b4358c0001', email: 'grace@acme.example', is_active: true }
const STAFF = {
  ...PERSON,
  keycloak_user_id: 's',
  display_name: 'Grace',
  role: 'OPS',
  created_at: AT,
  last_seen_at: null,
}
const MEMBER = { ...PERSON, role: 'DEVELOPER', invited_by: 'ada', created_at: AT }
const LISTED = { second_factor: true }
const CLIENT = { client_id: 'acme-key-4f7a1c9e', role: 'OPS', name: 'n', created_by: 'ada', created_at: AT }

const REFUND = {
  refund_id: PERSON.id,
  payment_id: PAYMENT_ID,
  refund_status: 'EXECUTED',
  status: 'Refunded',
  refunded_amount: '50.00',
  remaining_amount: '0.00',
}
const REGISTRATION = {
  slug: 'half',
  status: 'PROVISIONING',
  company_name: 'Half Ltd',
  trading_name: 'Half',
  admin_email: 'ada@half.example',
  merchant_id: null,
  warnings: [],
  failure: null,
  invited_at: null,
  created_at: AT,
  problems: ['it was left half-made'],
}
const ENDPOINT = { webhook_url: 'https://acme.example/hook', paused: false, gone: false, alert: null }

function answer({ method, path }: Request, status: KybStatus = 'APPROVED'): Answer {
  if (path.includes('/refund')) return method === 'GET' ? pageOf([]) : { json: REFUND }
  if (path.startsWith('/api/v1/payments/')) return { json: paymentOf('Settled') }
  if (path.includes('/webhook-endpoint')) return { json: { ...ENDPOINT, check: null } }
  if (path.includes('/rotate-keys')) return { json: { realm: 'acme', key_ids: ['k1'] } }
  if (path.startsWith('/api/v1/admin/merchants')) {
    const merchant = merchantOf({ kyb_status: status })
    if (method === 'PUT') return { json: merchant }
    return path.includes('?') ? pageOf([merchant]) : { json: { ...merchant, actions: [] } }
  }
  if (path.includes('/repair')) return { json: { slug: 'half', status: 'FAILED', repaired: [] } }
  if (path.endsWith('/registrations')) return pageOf([REGISTRATION])
  if (path.includes('/staff-clients/')) return { json: { ...CLIENT, revoked_at: AT } }
  if (path.includes('/rotate'))
    return { json: { ...CLIENT, role: null, kind: 'server', client_secret: 's', token_endpoint: 'http://x/token' } }
  if (path.includes('/api-credentials/')) return { json: { ...CLIENT, role: null, kind: 'credential', revoked_at: AT } }
  if (path.includes('/staff')) return method === 'GET' ? pageOf([{ ...STAFF, ...LISTED }]) : { json: STAFF }
  return method === 'GET' ? pageOf([{ ...MEMBER, ...LISTED }]) : { json: MEMBER }
}

/** What hurts a real merchant, with what may be typed to confirm it. */
const DANGEROUS: readonly { words: string[]; typed: string[]; pending?: true }[] = [
  { words: ['hold', 'set', 'acme', '--reason', 'r'], typed: ['acme', MERCHANT_ID] },
  { words: ['kyb', 'suspend', 'acme', '--reason', 'r'], typed: ['acme', MERCHANT_ID] },
  { words: ['kyb', 'refuse', 'acme', '--reason', 'r'], typed: ['acme', MERCHANT_ID], pending: true },
  { words: ['merchants', 'disable', 'acme', '--reason', 'r'], typed: ['acme', MERCHANT_ID] },
  { words: ['merchants', 'repair', 'half', '--rollback'], typed: ['half'] },
  { words: ['staff', 'remove', PERSON.email, '--reason', 'r'], typed: [PERSON.email] },
  { words: ['credentials', 'revoke', CLIENT.client_id, '--platform', '--reason', 'r'], typed: [CLIENT.client_id] },
  { words: ['staff', 'role', PERSON.email, 'OWNER', '--reason', 'r'], typed: [PERSON.email] },
  { words: ['staff', 'rotate-keys', 'acme', '--reason', 'r'], typed: ['acme'] },
  { words: ['payments', 'refund', PAYMENT_ID, '--client-id', 'demo'], typed: ['a2b4358c4f6d'.slice(-8), PAYMENT_ID] },
  { words: ['webhooks', 'endpoint', 'set', '--none', '--client-id', 'demo'], typed: ['https://acme.example/hook'] },
  { words: ['team', 'remove', PERSON.email, '--client-id', 'demo'], typed: [PERSON.email] },
  { words: ['credentials', 'revoke', CLIENT.client_id, '--client-id', 'demo'], typed: [CLIENT.client_id] },
  { words: ['credentials', 'rotate', CLIENT.client_id, '--client-id', 'demo'], typed: [CLIENT.client_id] },
]

async function live(t: Test, status?: KybStatus): Promise<FakeAdmin> {
  return fakeAdmin(t, (request) => answer(request, status), { mode: 'live' })
}

for (const { words, typed, pending } of DANGEROUS) {
  const status = pending === true ? 'PENDING' : 'APPROVED'
  const name = words.slice(0, 2).join(' ')

  t.test(`${name} in live mode needs --yes where there is no terminal`, async (t) => {
    const admin = await live(t, status)
    const { code, stderr } = await admin.run([...words, '--json'])
    t.equal(code, 2)
    t.match(JSON.parse(stderr), { error: { code: 'CONFIRMATION_NEEDED', hint: /--yes/ } })
    t.same(admin.writes(), [])
    t.match(await admin.run([...words, '--yes']), { code: 0 })
    t.equal(admin.writes().length, 1)
  })

  t.test(`${name} in live mode asks a person to type what it is about`, async (t) => {
    for (const word of typed) {
      const admin = await live(t, status)
      t.match(await admin.run(words, { typed: word }), { code: 0, stderr: /LIVE/ }, word)
      t.equal(admin.writes().length, 1, word)
    }
    // Two merchants may have one name.
    for (const wrong of ['', 'y', 'yes', 'Acme', 'Acme Ltd']) {
      const admin = await live(t, status)
      t.match(await admin.run(words, { typed: wrong }), { code: 2, stderr: /nothing was changed/ }, wrong)
      t.same(admin.writes(), [], wrong)
    }
  })

  t.test(`${name} in the sandbox asks nothing`, async (t) => {
    const admin = await fakeAdmin(t, (request) => answer(request, status))
    t.match(await admin.run(words), { code: 0 })
    t.equal(admin.writes().length, 1)
  })

  t.test(`${name} as a dry run asks nothing and changes nothing, live too`, async (t) => {
    const admin = await live(t, status)
    t.match(await admin.run([...words, '--dry-run']), { code: 0, stdout: /Would send/ })
    t.same(admin.writes(), [])
  })
}

t.test('in live mode a program names its target in full', async (t) => {
  const admin = await live(t)
  const part = ['hold', 'set', 'a2b4358c4f6d', '--reason', 'r', '--yes']
  t.match(await admin.run(part), { code: 2, stderr: /a part of an id is not enough/ })
  t.match(await admin.run(['team', 'remove', 'a2b4358c0001', '--client-id', 'demo', '--yes']), { code: 2 })
  t.same(admin.writes(), [])
  t.match(await admin.run(part, { typed: '' }), { code: 0 }, 'a person who says --yes has seen what it means')
})

t.test('in live mode what would change nothing is not asked about', async (t) => {
  const admin = await fakeAdmin(
    t,
    ({ method, path }) => {
      const merchant = merchantOf({ kyb_status: 'SUSPENDED', payout_held: true, is_active: false })
      if (path.includes('/portal/team'))
        return method === 'GET' ? pageOf([{ ...MEMBER, ...LISTED, is_active: false }]) : { json: MEMBER }
      if (path.includes('/admin/staff'))
        return method === 'GET' ? pageOf([{ ...STAFF, ...LISTED, is_active: false }]) : { json: STAFF }
      if (method === 'PUT') return { json: merchant }
      return path.includes('?') ? pageOf([merchant]) : { json: { ...merchant, actions: [] } }
    },
    { mode: 'live' },
  )
  for (const { words } of DANGEROUS.filter(
    ({ words: [noun, verb] }) =>
      !['repair', 'role', 'rotate-keys', 'refund', 'endpoint'].includes(verb ?? '') && noun !== 'credentials',
  ))
    t.match(await admin.run(words), { code: 0 }, words.slice(0, 2).join(' '))
  t.notMatch((await admin.run(['hold', 'set', 'acme', '--reason', 'r'], { typed: '' })).stderr, /LIVE/)
})
