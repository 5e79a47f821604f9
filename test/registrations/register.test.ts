import t from 'tap'
import { request } from 'undici'
import { listMails } from '../../src/mail/list-mails.ts'
import { registerMerchant } from '../../src/registrations/register-merchant.ts'
import { sweepRegistrations } from '../../src/registrations/sweep.ts'
import { openWebhookSecret } from '../../src/signing/secret.ts'
import { serviceToken, testService, until } from '../support/app.ts'
import { countLeftovers, NOTHING, register, registrationInput, registrationRow } from '../support/registrations.ts'
import { makeRemoteIdentity } from '../support/remote-identity.ts'

const EMBEDDED = { SVC_IDENTITY: 'embedded' }

t.test('a merchant registers, and its server gets a token with the secret it was shown', async (t) => {
  const service = await testService(t, { env: EMBEDDED })
  const { status, body } = await register(service)
  t.equal(status, 201)
  t.match(body, {
    client_id: 'acme-ltd-server',
    client_secret: /^[\w-]{43}$/,
    realm_slug: 'acme-ltd',
    kyb_status: 'PENDING',
    issuer: `${service.url}/realms/acme-ltd`,
    webhook_signing_secret: /^[0-9a-f]{64}$/,
    warnings: [],
  })
  t.equal(await openWebhookSecret(service.app, body.merchant_id), body.webhook_signing_secret)
  const discovery = await request(`${body.issuer}/.well-known/openid-configuration`)
  t.match(await discovery.body.json(), { issuer: body.issuer })
  const token = await serviceToken(service.url, {
    realm: 'acme-ltd',
    clientId: body.client_id,
    secret: body.client_secret,
  })
  const authorization = { authorization: `Bearer ${token}` }
  const create = { body: { amount: '50.00', currency: 'GBP', redirect_uri: 'https://shop.example/' } }
  t.match(
    await service.call('POST', '/api/v1/payments', {
      headers: { ...authorization, 'x-idempotency-key': 'k' },
      ...create,
    }),
    { status: 403, body: { code: 'MERCHANT_NOT_APPROVED' } },
    'an operator approves it first',
  )
  t.match(
    await service.call('GET', '/api/v1/portal/team', { headers: authorization }),
    { status: 403, body: { code: 'FORBIDDEN_ROLE' } },
    'the server client has no role: payments only',
  )
})

t.test('names, fees, clients and the first administrator are those of the request', async (t) => {
  const env = {
    ...EMBEDDED,
    SVC_FEE_PERCENTAGE: '0.0125',
    SVC_FEE_FLAT: '0.30',
    SVC_PORTAL_URL: 'https://portal.example/',
  }
  const service = await testService(t, { env })
  const { owner } = service
  const { body } = await register(service, { company_name: 'Société Générale', admin_email: ' Ada@ACME.example ' })
  const { rows } = await owner.query('select * from merchants')
  t.match(rows, [
    {
      id: body.merchant_id,
      client_id: 'societe-generale-server',
      legal_name: 'Société Générale',
      trading_name: 'Acme',
      name: 'Acme',
      kyb_status: 'PENDING',
      fee_percentage: '0.0125',
      fee_flat: '0.30',
      webhook_url: null,
      is_active: true,
      realm_slug: 'societe-generale',
      payout_held: false,
    },
  ])
  const clients = await owner.query('select client_id, kind, role from merchant_client order by kind')
  t.same(clients.rows, [
    { client_id: 'societe-generale-cli', kind: 'cli', role: null },
    { client_id: 'societe-generale-portal', kind: 'portal', role: null },
    { client_id: 'societe-generale-server', kind: 'server', role: null },
  ])
  const team = await owner.query('select email, role, is_active from team_members')
  t.same(team.rows, [{ email: 'ada@acme.example', role: 'ADMIN', is_active: true }])
  const portal = await owner.query(`select follows_configuration, redirect_uris from idp.clients where kind = 'portal'`)
  t.same(portal.rows, [{ follows_configuration: true, redirect_uris: [] }], 'where the portal is, is asked each time')
  const users = await owner.query('select email, roles, password_hash from idp.users')
  t.same(users.rows, [{ email: 'ada@acme.example', roles: ['ADMIN'], password_hash: null }])
  const actions = await owner.query('select action, merchant_id, subject_id, actor_name, after from operator_actions')
  t.match(actions.rows, [
    { action: 'merchant.register', merchant_id: body.merchant_id, after: { realm_slug: 'societe-generale' } },
  ])
  for (const secret of [body.client_secret, body.webhook_signing_secret]) {
    const dump = await owner.query(`select (select json_agg(r)::text from registration r) ||
      (select json_agg(m)::text from merchants m) || (select json_agg(c)::text from idp.clients c) ||
      (select json_agg(a)::text from operator_actions a) as text`)
    t.notOk(dump.rows[0].text.includes(secret), 'no secret is kept in clear')
  }
})

const SLUGS: [name: string, slug: string | 400 | 409][] = [
  ['  Zürich & Söhne, Ltd.  ', 'zurich-sohne-ltd'],
  ['ＡＣＭＥ ①', 'acme-1'],
  ['AT&T', 'at-t'],
  [`${'x'.repeat(39)} yz`, 'x'.repeat(39)],
  ['é!', 400],
  ['株式会社', 400],
  ['---', 400],
  ['Аcme with a Cyrillic A', 400],
  ['Ac\u200Bme', 400],
  ['\u202Eemca', 400],
  ['Platform', 409],
  ['MASTER', 409],
  ['Customers!', 409],
]

t.test('the realm is named from the company; a name that is unusable, or imitates another, is rejected', async (t) => {
  const service = await testService(t)
  for (const [name, expected] of SLUGS) {
    const { status, body } = await register(service, { company_name: name })
    if (typeof expected === 'string') t.match({ status, body }, { status: 201, body: { realm_slug: expected } }, name)
    if (expected === 400) t.match({ status, body }, { status, body: { errors: [{ path: 'company_name' }] } }, name)
    if (expected === 409) t.match({ status, body }, { status, body: { code: 'REALM_EXISTS' } }, name)
    if (typeof expected === 'number') t.equal(status, expected, name)
  }
})

t.test('a name that is taken is rejected, whether a registration, a client or a realm has it', async (t) => {
  const identity = makeRemoteIdentity()
  const { app, owner } = await testService(t, { overrides: { identity } })
  const first = await registerMerchant(app, registrationInput())
  const again = { code: 'REALM_EXISTS' }
  await t.rejects(registerMerchant(app, registrationInput({ company_name: 'ACME, ltd' })), again, 'a merchant')
  await owner.query(`update merchants set realm_slug = 'other', client_id = 'other-server'`)
  await t.rejects(registerMerchant(app, registrationInput()), again, 'a registration that is complete')
  await owner.query(`delete from registration`)
  await t.rejects(registerMerchant(app, registrationInput()), again, 'clients with its ids')
  await identity.createRealm({
    slug: 'left-over',
    kind: 'merchant',
    displayName: '',
    registrationId: first.merchant_id,
    roles: [],
  })
  await t.rejects(registerMerchant(app, registrationInput({ company_name: 'Left over' })), again, 'a realm of nobody')
  t.ok(identity.realms.has('left-over'), 'which stays')
  t.match(await registrationRow(owner, 'left-over'), { status: 'FAILED', failure: /no registration created/ })
})

t.test('the administrator is invited by mail, once', async (t) => {
  const { app, owner, call } = await testService(t, { env: EMBEDDED, worker: true })
  await register({ call })
  const { rows } = await until(async () => {
    const mails = await owner.query('select kind, merchant_id is not null as filed from mails')
    return mails.rowCount === 1 ? mails : undefined
  })
  t.same(rows, [{ kind: 'invite', filed: true }])
  t.match(await listMails(app), [{ recipient: 'ada@acme.example' }])
  await until(async () => (await registrationRow(owner)).invited_at !== null)
  app.wake.notify('invite-admins')
  await new Promise((resolve) => setTimeout(resolve, 200))
  t.match(await countLeftovers(owner), { mails: 1 })
})

t.test('without an identity provider there is a merchant, and nothing to sign in to', async (t) => {
  const service = await testService(t)
  const { status, body } = await register(service)
  t.match({ status, body }, { status: 201, body: { client_secret: null, issuer: null, realm_slug: 'acme-ltd' } })
  t.match(await service.call('GET', '/api/v1/payments', { headers: { 'x-merchant-client-id': body.client_id } }), {
    status: 200,
  })
  t.match(await countLeftovers(service.owner), {
    ...NOTHING,
    merchants: 1,
    merchant_client: 3,
    team_members: 1,
    operator_actions: 1,
  })
})

t.test('an administrator without its role is a warning that stays with the registration', async (t) => {
  const identity = makeRemoteIdentity()
  identity.faults.withoutRole = true
  const { app, owner } = await testService(t, { overrides: { identity } })
  const warnings = ['ADMIN_ROLE_NOT_ASSIGNED']
  t.match(await registerMerchant(app, registrationInput()), { issuer: 'https://id.example/realms/acme-ltd', warnings })
  t.match(await registrationRow(owner), { status: 'COMPLETE', warnings })
  t.match((await owner.query('select after from operator_actions')).rows, [{ after: { warnings } }])
})

t.test('a network registers at most ten merchants an hour where rates are limited', async (t) => {
  const { app, owner } = await testService(t, { env: { SVC_RATE_LIMITS: 'true' } })
  const from = (clientAddress: string, number: number) =>
    registerMerchant(app, registrationInput({ company_name: `Company ${number} of ${clientAddress}`, clientAddress }))
  const burst = await Promise.allSettled(Array.from({ length: 14 }, (_, number) => from('2001:db8:1:2::1', number)))
  t.equal(burst.filter(({ status }) => status === 'fulfilled').length, 10, 'a burst is counted one by one')
  await t.rejects(from('2001:db8:1:2:ffff::9', 20), { code: 'RATE_LIMITED', retryAfterSeconds: Number }, 'one network')
  await t.resolves(from('2001:db8:1:3::1', 21), 'another network')
  await t.resolves(from('192.0.2.1', 22))
  const { rows } = await owner.query('select distinct request_ip_hash from registration_attempt')
  t.equal(rows.length, 3)
  t.ok(
    rows.every(({ request_ip_hash }) => /^[0-9a-f]{64}$/.test(request_ip_hash)),
    'no address is kept',
  )
  await owner.query(`update registration_attempt set created_at = created_at - interval '61 minutes'`)
  await t.resolves(from('2001:db8:1:2::1', 23), 'after an hour')
})

t.test('a rejected registration counts too, and expired counts are deleted', async (t) => {
  const { app, owner } = await testService(t, { env: { SVC_RATE_LIMITS: 'true' } })
  const from = (clientAddress: string) => registerMerchant(app, registrationInput({ clientAddress }))
  await from('192.0.2.1')
  for (let number = 0; number < 10; number += 1) {
    await t.rejects(from('192.0.2.2'), { code: 'REALM_EXISTS' })
  }
  await t.rejects(from('192.0.2.2'), { code: 'RATE_LIMITED' }, 'names are not to be asked for one after the other')
  await t.rejects(from('192.0.2.1'), { code: 'REALM_EXISTS' })
  await owner.query(
    `update registration_attempt set created_at = created_at - interval '61 minutes'
     where ctid in (select ctid from registration_attempt limit 5)`,
  )
  await sweepRegistrations(app)
  t.equal((await owner.query('select from registration_attempt')).rowCount, 7)
})
