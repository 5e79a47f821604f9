import t from 'tap'
import { request } from 'undici'
import { makeSignIn } from '../../src/identity/embedded/users/sign-in.ts'
import type { TestService } from '../support/app.ts'
import { tryPassword, isSignedIn, openLogin } from '../support/login-pages.ts'
import { PASSWORD, atPortal, embeddedHarness, makeRealm } from '../support/identity.ts'

const NEW_PASSWORD = 'the tide comes in twice a day'

/** What is counted of the one user's guesses, and for how many seconds more it is locked, to the nearest ten. */
async function guessesOf({ service }: { service: TestService }) {
  const { rows } = await service.owner.query<{ failed_logins: number; is_locked: boolean; seconds: number }>(
    `select failed_logins, coalesce(locked_until > now(), false) as is_locked,
      coalesce(round(extract(epoch from locked_until - now()) / 10) * 10, 0)::int4 as seconds
    from idp.users`,
  )
  const [row, ...others] = rows
  if (row === undefined || others.length > 0) throw new Error('one user was expected')
  return row
}

/** As if the time of the lock were over: its clock is the database's. */
async function endLock({ service }: { service: TestService }): Promise<void> {
  await service.owner.query(`update idp.users set locked_until = now() where locked_until is not null`)
}

t.test('27: of fifty concurrent guesses at most five are checked', async (t) => {
  const harness = await embeddedHarness(t)
  const realm = await makeRealm(harness)
  const wish = atPortal(harness, realm)
  const browsers = await Promise.all(Array.from({ length: 50 }, () => openLogin(wish)))
  const answers = await Promise.all(
    browsers.map(({ agent, page }, index) =>
      agent.send(page, { email: wish.email, password: `wrong tryPassword number ${index}` }),
    ),
  )
  t.notOk(answers.some((page) => isSignedIn(page)))
  const { failed_logins, is_locked } = await guessesOf(harness)
  t.same([failed_logins, is_locked], [5, true], 'each tryPassword that is looked at is counted before')
  t.notOk(isSignedIn(await tryPassword(wish, PASSWORD)))
})

t.test('a lock ends, and a correct password resets the count', async (t) => {
  const harness = await embeddedHarness(t)
  const wish = atPortal(harness, await makeRealm(harness))
  for (let wrong = 0; wrong < 5; wrong += 1) await tryPassword(wish, 'not the password of Ada')
  t.notOk(isSignedIn(await tryPassword(wish, PASSWORD)))
  await endLock(harness)
  t.ok(isSignedIn(await tryPassword(wish, PASSWORD)))
  t.match(await guessesOf(harness), { failed_logins: 0, is_locked: false })
})

t.test('each wrong password after the fifth locks longer, up to fifteen minutes', async (t) => {
  const harness = await embeddedHarness(t)
  const realm = await makeRealm(harness)
  const wish = atPortal(harness, realm)
  for (let wrong = 0; wrong < 4; wrong += 1) await tryPassword(wish, 'not the password of Ada')
  t.equal((await guessesOf(harness)).is_locked, false)
  const seconds: number[] = []
  for (let wrong = 0; wrong < 7; wrong += 1) {
    await endLock(harness)
    await tryPassword(wish, 'not the password of Ada')
    seconds.push((await guessesOf(harness)).seconds)
  }
  t.same(seconds, [60, 120, 240, 480, 900, 900, 900])
  await harness.service.owner.query(`update idp.users set locked_until = now() - interval '13 hours'`)
  await tryPassword(wish, 'not the password of Ada')
  t.match(await guessesOf(harness), { failed_logins: 1, is_locked: false }, 'half a day later it begins anew')
})

t.test('a sign-in in progress fails if the password is replaced', async (t) => {
  const harness = await embeddedHarness(t)
  const realm = await makeRealm(harness)
  const wish = atPortal(harness, realm)
  const { agent, page } = await openLogin(wish)
  // The password is right, and the browser does not go on to where it is sent.
  const { statusCode, headers, body } = await request(page.url, {
    method: 'POST',
    headers: {
      'content-type': 'application/x-www-form-urlencoded',
      cookie: agent.cookies.map(({ name, value }) => `${name}=${value}`).join('; '),
    },
    body: new URLSearchParams({ email: wish.email, password: PASSWORD }).toString(),
  })
  await body.dump()
  t.equal(statusCode, 303)
  await harness.identity.setPassword(realm.slug, realm.admin.id, NEW_PASSWORD)
  const resumed = await agent.open(String(headers['location']))
  t.notOk(isSignedIn(resumed), 'who knew the old password and waited does not get in with it')
})

t.test('a form from another site or another browser does not sign in', async (t) => {
  const harness = await embeddedHarness(t)
  const realm = await makeRealm(harness)
  const wish = atPortal(harness, realm)
  const { agent, page } = await openLogin(wish)
  const cookie = agent.cookies.map(({ name, value }) => `${name}=${value}`).join('; ')
  const post = async (headers: Record<string, string>, type = 'application/x-www-form-urlencoded') => {
    const answer = await request(page.url, {
      method: 'POST',
      headers: { 'content-type': type, ...headers },
      body: new URLSearchParams({ email: wish.email, password: PASSWORD }).toString(),
    })
    await answer.body.dump()
    return answer.statusCode
  }
  t.equal(await post({}), 400, 'without its cookie')
  t.equal(await post({ cookie, 'sec-fetch-site': 'cross-site' }), 400)
  t.equal(await post({ cookie, 'sec-fetch-site': 'same-site' }), 400)
  t.equal(await post({ cookie }, 'application/json'), 400)
  t.equal(await post({ cookie, 'sec-fetch-site': 'same-origin' }), 303)
})

t.test('excess sign-ins are rejected, not queued', async (t) => {
  const { promise, resolve } = Promise.withResolvers<null>()
  const { service } = await embeddedHarness(t)
  const signIn = makeSignIn({ pool: Object.create(service.app.pool, { maybeOne: { value: () => promise } }) })
  const attempt = { realm: 'acme', email: 'ada@acme.example', password: PASSWORD }
  const waiting = Array.from({ length: 100 }, () => signIn(attempt))
  t.same(await signIn(attempt), { outcome: 'busy' })
  resolve(null)
  t.ok((await Promise.all(waiting)).every(({ outcome }) => outcome === 'rejected'))
  t.same(await signIn(attempt), { outcome: 'rejected' })
})
