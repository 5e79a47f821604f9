import { createHash, randomUUID } from 'node:crypto'
import t from 'tap'
import type { Test } from 'tap'
import { createActionLink, readActionLink, setPasswordByLink } from '../../src/identity/embedded/users/action-tokens.ts'
import type { NewActionLink } from '../../src/identity/embedded/users/action-tokens.ts'
import { makeSignIn } from '../../src/identity/embedded/users/sign-in.ts'
import { hashPassword } from '../../src/identity/embedded/users/passwords.ts'
import { recipientHash } from '../../src/mail/seal-context.ts'
import { testService } from '../support/app.ts'
import type { TestService } from '../support/app.ts'

const REALM = 'acme'
const EMAIL = 'ada@acme.example'
const PASSWORD = 'a quiet harbour at noon'

/** A realm's books with one user in them; the protocol is not needed here. */
async function withUser(t: Test): Promise<{ service: TestService; userId: string }> {
  const service = await testService(t, { env: { SVC_IDENTITY: 'none' } })
  const userId = randomUUID()
  await service.owner.query(
    `insert into idp.realms (slug, kind, display_name, registration_id, signing_keys, cookie_keys, roles)
    values ($1, 'merchant', 'Acme', $2, 'v1.', 'v1.', '{}')`,
    [REALM, randomUUID()],
  )
  await addUser(service, userId, EMAIL)
  return { service, userId }
}

async function addUser(service: TestService, id: string, email: string): Promise<void> {
  await service.owner.query(`insert into idp.users (id, realm, subject, email) values ($1::uuid, $2, $1::text, $3)`, [
    id,
    REALM,
    email,
  ])
}

async function newLink(service: TestService, userId: string, changes: Partial<NewActionLink> = {}): Promise<string> {
  const link = { realm: REALM, userId, purpose: 'invite', clientId: 'acme-portal', lifespanSeconds: 60 } as const
  const address = new URL(await createActionLink(service.app, service.app.pool, { ...link, ...changes }))
  return address.searchParams.get('token') ?? ''
}

const invite = (token: string) => ({ realm: REALM, purpose: 'invite', token }) as const

t.test("a link names its user and purpose, and only its token's hash is stored", async (t) => {
  const { service, userId } = await withUser(t)
  const link = await createActionLink(service.app, service.app.pool, {
    realm: REALM,
    userId,
    purpose: 'invite',
    clientId: 'acme-portal',
    redirectUri: 'https://portal.example/callback',
    lifespanSeconds: 60,
  })
  t.match(link, new RegExp(`^${service.app.publicUrl}/realms/acme/invite\\?token=[A-Za-z0-9_-]{43}$`))
  const token = new URL(link).searchParams.get('token') ?? ''
  const { rows } = await service.owner.query(`select * from idp.action_tokens`)
  t.notMatch(JSON.stringify(rows), token)
  t.equal(rows[0].token_hash, createHash('sha256').update(token).digest('hex'))
  t.match(await readActionLink(service.app.pool, invite(token)), {
    user_id: userId,
    email: EMAIL,
    client_id: 'acme-portal',
    redirect_uri: 'https://portal.example/callback',
  })
})

t.test('reading a link does not use it, setting the password does', async (t) => {
  const { service, userId } = await withUser(t)
  const token = await newLink(service, userId)
  for (let look = 0; look < 5; look += 1) t.ok(await readActionLink(service.app.pool, invite(token)))
  const set = await setPasswordByLink(service.app, { ...invite(token), password: PASSWORD })
  t.equal(set.outcome, 'set')
  t.equal(await readActionLink(service.app.pool, invite(token)), null)
  const again = await setPasswordByLink(service.app, { ...invite(token), password: 'another quiet harbour' })
  t.same(again, { outcome: 'unusable' })
  const signIn = makeSignIn(service.app)
  t.match(await signIn({ realm: REALM, email: EMAIL, password: PASSWORD }), { outcome: 'signed-in', subject: userId })
})

t.test('of twenty concurrent uses exactly one sets the password', async (t) => {
  const { service, userId } = await withUser(t)
  const token = await newLink(service, userId)
  const tries = Array.from({ length: 20 }, (_, index) => `a quiet harbour, pier ${index}`)
  const done = await Promise.all(
    tries.map((password) => setPasswordByLink(service.app, { ...invite(token), password })),
  )
  const winners = tries.filter((_, index) => done[index]?.outcome === 'set')
  t.equal(winners.length, 1)
  t.equal(done.filter(({ outcome }) => outcome === 'unusable').length, 19)
  const signIn = makeSignIn(service.app)
  t.match(await signIn({ realm: REALM, email: EMAIL, password: winners[0] ?? '' }), { outcome: 'signed-in' })
})

t.test('a rejected password leaves the link usable', async (t) => {
  const { service, userId } = await withUser(t)
  const token = await newLink(service, userId)
  const refused = await setPasswordByLink(service.app, { ...invite(token), password: 'too short' })
  t.match(refused, { outcome: 'rejected', problem: /at least 12/ })
  t.match(await setPasswordByLink(service.app, { ...invite(token), password: EMAIL }), { outcome: 'rejected' })
  t.match(await setPasswordByLink(service.app, { ...invite(token), password: PASSWORD }), { outcome: 'set' })
})

t.test('a link fails if it is expired, of another realm or purpose, or of a disabled user', async (t) => {
  const { service, userId } = await withUser(t)
  const expired = await newLink(service, userId, { lifespanSeconds: -1 })
  const good = await newLink(service, userId)
  const set = (key: { realm: string; purpose: 'invite' | 'reset'; token: string }) =>
    setPasswordByLink(service.app, { ...key, password: PASSWORD })
  const dead = { outcome: 'unusable' }
  t.same(await set(invite(expired)), dead)
  t.same(await set(invite('')), dead)
  t.same(await set(invite(good.slice(1))), dead)
  t.same(await set({ ...invite(good), realm: 'acme-2' }), dead)
  t.same(await set({ ...invite(good), purpose: 'reset' }), dead)
  await service.owner.query(`update idp.users set is_enabled = false`)
  t.same(await set(invite(good)), dead)
  await service.owner.query(`update idp.users set is_enabled = true`)
  t.match(await set(invite(good)), { outcome: 'set' })
})

t.test('setting the password ends the sessions and closes the other links of this user only', async (t) => {
  const { service, userId } = await withUser(t)
  const otherId = randomUUID()
  await addUser(service, otherId, 'grace@acme.example')
  for (const [subject, model] of [
    [userId, 'Session'],
    [userId, 'RefreshToken'],
    [userId, 'Grant'],
    [otherId, 'Session'],
  ]) {
    await service.owner.query(
      `insert into idp.state (realm, model, id_hash, payload, subject, expires_at)
      values ($1, $2, $3, 'v1.', $4, now() + interval '1 hour')`,
      [REALM, model, createHash('sha256').update(randomUUID()).digest('hex'), subject],
    )
  }
  const taken = await newLink(service, userId)
  const open = await newLink(service, userId, { purpose: 'reset' })
  const others = await newLink(service, otherId)
  await service.owner.query(`update idp.users set failed_logins = 7, locked_until = now() + interval '8 minutes'`)
  t.match(await setPasswordByLink(service.app, { ...invite(taken), password: PASSWORD }), { outcome: 'set' })
  t.equal(await readActionLink(service.app.pool, { realm: REALM, purpose: 'reset', token: open }), null)
  t.ok(await readActionLink(service.app.pool, invite(others)))
  const { rows } = await service.owner.query(`select subject, model from idp.state`)
  t.same(rows, [{ subject: otherId, model: 'Session' }])
  const users = await service.owner.query(
    `select id, failed_logins, locked_until is null as is_open from idp.users order by email`,
  )
  t.same(users.rows, [
    { id: userId, failed_logins: 0, is_open: true },
    { id: otherId, failed_logins: 7, is_open: false },
  ])
})

t.test('a correct old password does not sign in after it was replaced meanwhile', async (t) => {
  const { service, userId } = await withUser(t)
  const slow = await hashPassword('the old password, long known')
  await service.owner.query(`update idp.users set password_hash = $1`, [slow])
  const token = await newLink(service, userId)
  const signIn = makeSignIn({
    pool: Object.create(service.app.pool, {
      maybeOne: {
        // Between the two statements of signing in, the owner of the mailbox sets another password.
        value: async (query: Parameters<typeof service.app.pool.maybeOne>[0]) => {
          if (/last_login_at/.test(query.sql)) {
            await setPasswordByLink(service.app, { ...invite(token), password: PASSWORD })
          }
          return service.app.pool.maybeOne(query)
        },
      },
    }),
  })
  const old = await signIn({ realm: REALM, email: EMAIL, password: 'the old password, long known' })
  t.same(old, { outcome: 'rejected' })
})

t.test('a password that a link has set is in the audit trail, and mailed after a reset', async (t) => {
  const { service, userId } = await withUser(t)
  const { app, owner } = service
  const left = async () => {
    const { rows: actions } = await owner.query(
      'select actor_id, actor_name, action, merchant_id, subject_id, after from operator_actions order by ordinal',
    )
    const { rows: mails } = await owner.query('select kind, realm, recipient_hash, subject from mails')
    return { actions, mails }
  }
  const action = { actor_id: userId, actor_name: EMAIL, action: 'password.set', merchant_id: null, subject_id: userId }
  const invited = await newLink(service, userId)
  await setPasswordByLink(app, { ...invite(invited), password: 'too short' })
  t.same(await left(), { actions: [], mails: [] }, 'a rejected password leaves nothing')
  await setPasswordByLink(app, { ...invite(invited), password: PASSWORD })
  const ofInvitation = { ...action, after: { realm: REALM, by: 'invite' } }
  t.same(await left(), { actions: [ofInvitation], mails: [] }, 'who accepts an invitation has its mail')
  const key = { realm: REALM, purpose: 'reset' } as const
  const token = await newLink(service, userId, { purpose: 'reset' })
  await setPasswordByLink(app, { ...key, token, password: EMAIL })
  t.equal((await left()).actions.length, 1)
  await Promise.all([1, 2].map(() => setPasswordByLink(app, { ...key, token, password: PASSWORD })))
  t.same(await left(), {
    actions: [ofInvitation, { ...action, after: { realm: REALM, by: 'reset' } }],
    mails: [
      {
        kind: 'password',
        realm: REALM,
        recipient_hash: await recipientHash(app, EMAIL),
        subject: `Your new password for ${REALM}`,
      },
    ],
  })
})
