import t from 'tap'
import { request } from 'undici'
import { recipientHash } from '../../../src/mail/seal-context.ts'
import type { Invitation } from '../../../src/identity/provider.ts'
import { embeddedHarness, makeRealm } from '../../support/identity.ts'
import type { TestRealm } from '../../support/identity.ts'
import { merchantWithPortal } from '../../support/sign-in.ts'

const harness = await embeddedHarness(t)
const { app, identity, service } = harness

function invite({ slug, portal }: TestRealm, userId: string, deliver: Invitation['deliver'] = 'mail') {
  return identity.inviteUser(slug, userId, { clientId: portal, lifespanSeconds: 3_600, deliver, merchantId: null })
}

async function subjectsTo(recipient: string): Promise<unknown[]> {
  const { rows } = await service.owner.query('select subject, realm from mails where recipient_hash = $1', [
    await recipientHash(service.app, recipient),
  ])
  return rows
}

async function works(link: string | null): Promise<boolean> {
  const { statusCode, body } = await request(link ?? '')
  await body.dump()
  return statusCode === 200
}

t.test('a new invitation closes the earlier ones of that user only', async (t) => {
  const realm = await makeRealm(harness)
  const other = await identity.createUser(realm.slug, { email: 'bob@acme.example', roles: [] })
  const theirs = await invite(realm, other, 'link')
  const links: (string | null)[] = []
  for (let count = 0; count < 3; count += 1) links.push(await invite(realm, realm.admin.id, 'link'))
  t.same(await Promise.all(links.map(works)), [false, false, true])
  t.equal(await works(theirs), true)
})

t.test('of concurrent invitations one link stays valid', async (t) => {
  const realm = await makeRealm(harness)
  const links = await Promise.all(Array.from({ length: 4 }, () => invite(realm, realm.admin.id, 'link')))
  t.equal((await Promise.all(links.map(works))).filter(Boolean).length, 1)
})

t.test('a user gets at most five invitations an hour, even concurrently', async (t) => {
  const [one, two] = [await makeRealm(harness), await makeRealm(harness)]
  for (let count = 0; count < 5; count += 1) await invite(one, one.admin.id)
  await t.rejects(invite(one, one.admin.id), { code: 'RATE_LIMITED' })
  const answers = await Promise.allSettled(Array.from({ length: 8 }, () => invite(two, two.admin.id)))
  const refused = answers.flatMap((each) => (each.status === 'rejected' ? [each.reason] : []))
  t.equal(refused.length, 3)
  for (const error of refused) {
    t.equal(error.code, 'RATE_LIMITED')
    t.ok(error.retryAfterSeconds > 3_500 && error.retryAfterSeconds <= 3_600, String(error.retryAfterSeconds))
  }
  t.equal((await subjectsTo(two.admin.email)).length, 5)
})

t.test('a throttled invitation leaves the last link valid', async (t) => {
  const realm = await makeRealm(harness)
  for (let count = 0; count < 5; count += 1) await invite(realm, realm.admin.id)
  await t.rejects(invite(realm, realm.admin.id), { code: 'RATE_LIMITED' })
  const link = /http\S+/.exec((await harness.mailsTo(realm.admin.email)).at(-1) ?? '')?.[0] ?? ''
  t.equal(await works(link), true)
})

t.test('removing and inviting a user again does not bypass the limit', async (t) => {
  const realm = await makeRealm(harness)
  const email = 'carol@acme.example'
  const again = async (): Promise<string | null> => {
    const id = await identity.createUser(realm.slug, { email, roles: [] })
    const sent = await invite(realm, id).finally(() => identity.deleteUser(realm.slug, id))
    return sent
  }
  for (let count = 0; count < 5; count += 1) await again()
  await t.rejects(again(), { code: 'RATE_LIMITED' })
  await service.owner.query(
    `update mails set created_at = created_at - interval '59 minutes' where recipient_hash = $1`,
    [await recipientHash(service.app, email)],
  )
  await t.rejects(again(), { code: 'RATE_LIMITED' })
  await service.owner.query(
    `update mails set created_at = created_at - interval '2 minutes' where recipient_hash = $1`,
    [await recipientHash(service.app, email)],
  )
  await t.resolves(again())
})

t.test('an invitation that may not be mailed changes no row: a removed person stays removed', async (t) => {
  const headers = await service.operator('OWNER')
  const merchant = await merchantWithPortal(service)
  for (const [path, caller] of [
    ['/api/v1/admin/staff', { headers }],
    ['/api/v1/portal/team', { merchant }],
  ] as const) {
    const body = { email: `dora@${path.split('/')[3]}.example`, role: path.includes('staff') ? 'OPS' : 'FINANCE' }
    let id = ''
    for (let count = 0; count < 5; count += 1) {
      const invited = await service.call('POST', path, { ...caller, body })
      t.equal(invited.status, 201)
      id = String(invited.body.id)
    }
    t.match(await service.call('DELETE', `${path}/${id}`, caller), { status: 200 })
    const limited = await service.call('POST', path, { ...caller, body })
    t.match(limited, { status: 429, body: { code: 'RATE_LIMITED' } })
    const { body: listed } = await service.call('GET', path, caller)
    t.notOk(listed.data.some(({ email }: { email: string }) => email === body.email))
  }
})

t.test('a merchant sends 200 invitations an hour, to whatever addresses', async (t) => {
  const [merchant, other] = [await merchantWithPortal(service), await merchantWithPortal(service)]
  const send = (by: typeof merchant, email: string) =>
    service.call('POST', '/api/v1/portal/team', { merchant: by, body: { email, role: 'FINANCE' } })
  await service.owner.query(
    `insert into mails (id, merchant_id, realm, kind, recipient, recipient_hash, subject, body, status, created_at)
    select gen_random_uuid(), $1, $2, 'invite', 'v1.x', repeat('0', 64), 'You are invited', 'v1.x', 'KEPT',
      now() - interval '50 minutes'
    from generate_series(1, 199)`,
    [merchant.id, merchant.realm],
  )
  t.match(await send(merchant, 'first@bank.example'), { status: 201 })
  const refused = await send(merchant, 'second@bank.example')
  t.match(refused, { status: 429, body: { code: 'RATE_LIMITED' } })
  const seconds = Number(refused.headers['retry-after'])
  t.ok(seconds > 0 && seconds <= 600, String(seconds))
  t.equal(await identity.findUser(merchant.realm, 'second@bank.example'), null, 'no account is left')
  t.same(await subjectsTo('second@bank.example'), [])
  t.match(await send(other, 'second@bank.example'), { status: 201 }, 'another merchant may')
  await service.owner.query(`update mails set created_at = created_at - interval '11 minutes' where merchant_id = $1`, [
    merchant.id,
  ])
  t.match(await send(merchant, 'second@bank.example'), { status: 201 })
})

t.test('a person with a password exists already, also when no more invitations would be mailed', async (t) => {
  const headers = await service.operator('OWNER')
  const merchant = await merchantWithPortal(service)
  for (const { path, caller, realm, role } of [
    { path: '/api/v1/admin/staff', caller: { headers }, realm: 'platform', role: 'OPS' },
    { path: '/api/v1/portal/team', caller: { merchant }, realm: merchant.realm, role: 'FINANCE' },
  ]) {
    const body = { email: `erin@${realm}.example`, role }
    for (let count = 0; count < 5; count += 1)
      t.equal((await service.call('POST', path, { ...caller, body })).status, 201)
    const userId = (await identity.findUser(realm, body.email)) ?? ''
    await identity.setPassword(realm, userId, 'quite another secret sentence')
    t.match(await service.call('POST', path, { ...caller, body }), { status: 409, body: { code: 'USER_EXISTS' } }, path)
  }
})

t.test('links that are not mailed are not counted', async (t) => {
  const realm = await makeRealm(harness)
  for (let count = 0; count < 7; count += 1) await invite(realm, realm.admin.id, 'link')
  await t.resolves(invite(realm, realm.admin.id))
})

t.test("a company's name is quoted and contains no link", async (t) => {
  const displayName = 'Acme”\n\nYour account is locked: https://evil.example/login www.evil.example \u202e"now"'
  const realm = await makeRealm(harness, { displayName })
  await invite(realm, realm.admin.id)
  t.same(await subjectsTo(realm.admin.email), [{ subject: `You are invited to ${realm.slug}`, realm: realm.slug }])
  const [text = ''] = await harness.mailsTo(realm.admin.email)
  t.match(text, `sign in to ${realm.slug} (display name: “Acme Your account is locked`)
  t.notMatch(text, /evil\.example|www\.|\u202e|Acme”/)
  t.match(text, /https\[:\]\/\/evil\[\.\]example/)
  const links = text.match(/https?:\/\/\S+/g) ?? []
  t.equal(links.length, 1)
  t.ok(links.every((link) => link.startsWith(app.publicUrl)))
})

t.test('so it is in the password reset mail', async (t) => {
  const realm = await makeRealm(harness, { displayName: 'Evil\nhttps://evil.example' })
  const { statusCode, body } = await request(`${harness.authUrl}/realms/${realm.slug}/forgot`, {
    method: 'POST',
    headers: { 'content-type': 'application/x-www-form-urlencoded' },
    body: new URLSearchParams({ email: realm.admin.email }).toString(),
  })
  await body.dump()
  t.equal(statusCode, 200)
  t.match(await subjectsTo(realm.admin.email), [{ subject: `Choose a new password for ${realm.slug}` }])
  const [text = ''] = await harness.mailsTo(realm.admin.email)
  t.notMatch(text, 'evil.example')
})
