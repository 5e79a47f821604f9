import { randomUUID } from 'node:crypto'
import t from 'tap'
import { tryPassword, isSignedIn, openLogin, acceptInvitation } from '../../support/login-pages.ts'
import { PASSWORD, atPortal, identityHarness, makeRealm, signIn } from '../../support/identity.ts'
import type { IdentityHarness, SignInInput, TestRealm } from '../../support/identity.ts'
import { UserAgent, asksForPassword } from '../../support/user-agent.ts'
import type { Page } from '../../support/user-agent.ts'

const NEW_PASSWORD = 'the tide comes in twice a day'

async function addUser({ identity }: IdentityHarness, realm: TestRealm, name: string): Promise<SignInInput['email']> {
  const email = `${name}@${realm.slug}.example`
  const id = await identity.createUser(realm.slug, { email, roles: ['FINANCE'] })
  await identity.setPassword(realm.slug, id, PASSWORD)
  return email
}

t.test('7: an invitation sets the password once; before that the user cannot sign in', async (t) => {
  const harness = await identityHarness(t)
  const realm = await makeRealm(harness)
  const email = `grace@${realm.slug}.example`
  const id = await harness.identity.createUser(realm.slug, { email, roles: ['ADMIN'] })
  const wish = { ...atPortal(harness, realm), email }
  for (const password of ['', PASSWORD]) t.notOk(isSignedIn(await tryPassword(wish, password)), 'not before')
  t.equal(await harness.identity.hasPassword(realm.slug, id), false)

  await harness.identity.inviteUser(realm.slug, id, {
    clientId: realm.portal,
    lifespanSeconds: 600,
    deliver: 'mail',
    merchantId: null,
  })
  const [mail = ''] = await harness.mailsTo(email)
  const link = /https?:\S+/.exec(mail)?.[0] ?? ''
  // Scanners of mail open every link, some of them twice.
  await Promise.all([1, 2].map(() => new UserAgent(harness.authUrl).open(link)))
  await acceptInvitation(harness.authUrl, link, NEW_PASSWORD)
  t.equal(await harness.identity.hasPassword(realm.slug, id), true)
  const pending = await harness.identity.createUser(realm.slug, { email: `mary@${realm.slug}.example`, roles: [] })
  const asked = [id, pending, 'nobody', ...Array.from({ length: 6 }, () => randomUUID())]
  t.same([...(await harness.identity.usersWithPassword(realm.slug, asked))], [id])
  t.same([...(await harness.identity.usersWithPassword(realm.slug, []))], [])
  const { claims } = await signIn({ ...wish, password: NEW_PASSWORD })
  t.equal(claims.sub, id)

  const second = await acceptInvitation(harness.authUrl, link, 'somebody else chose this one')
  t.notOk(asksForPassword(second), 'the second time there is nothing to fill in')
  t.notOk(isSignedIn(await tryPassword(wish, 'somebody else chose this one')))
  t.ok(isSignedIn(await tryPassword(wish, NEW_PASSWORD)))
})

t.test('26: five wrong passwords lock this user, even for the right password', async (t) => {
  const harness = await identityHarness(t)
  const realm = await makeRealm(harness)
  const grace = await addUser(harness, realm, 'grace')
  const wish = atPortal(harness, realm)
  for (let wrong = 0; wrong < 5; wrong += 1)
    t.notOk(isSignedIn(await tryPassword(wish, `wrong tryPassword number ${wrong}`)))
  t.notOk(isSignedIn(await tryPassword(wish, PASSWORD)), 'the right password is refused while it is locked')
  t.ok(isSignedIn(await tryPassword({ ...wish, email: grace }, PASSWORD)), 'other users sign in')
})

t.test('28: an unknown address, a wrong password and a locked user get the same response', async (t) => {
  const harness = await identityHarness(t)
  const realm = await makeRealm(harness)
  const wish = atPortal(harness, realm)
  const known = await tryPassword(wish, 'not the password of Ada')
  const nobody = `${randomUUID()}@${realm.slug}.example`
  const unknown = await tryPassword({ ...wish, email: nobody }, 'not the password of Ada')
  for (let wrong = 0; wrong < 5; wrong += 1) await tryPassword(wish, `wrong tryPassword number ${wrong}`)
  const locked = await tryPassword(wish, PASSWORD)
  const comparable = ({ status, text, headers }: Page, email: string) => ({
    status,
    policy: headers['content-security-policy'],
    // The address that was typed in, and the sign-in that it was typed into.
    text: text
      .replaceAll(email, 'EMAIL')
      .replaceAll(/(interaction[/=]|(?:session_code|execution|tab_id|client_data)=)[\w-]+/g, '$1ONE')
      .replaceAll(/checkAuthSession\([^)]*\)/g, 'ONE'),
  })
  t.same(comparable(unknown, nobody), comparable(known, wish.email))
  t.same(comparable(locked, wish.email), comparable(known, wish.email))
})

t.test('28: in the same time', async (t) => {
  const harness = await identityHarness(t)
  const realm = await makeRealm(harness)
  const wish = atPortal(harness, realm)
  const time = async (email: string): Promise<number> => {
    const { agent, page } = await openLogin({ ...wish, email })
    const began = performance.now()
    await agent.send(page, { email, password: 'not the password of Ada' })
    return performance.now() - began
  }
  // The fastest of each, over as many rounds as a busy machine needs: what answers without hashing stays faster.
  let [known, unknown] = [Infinity, Infinity]
  for (let round = 0; round < 100 && (round < 8 || Math.abs(known - unknown) >= 40); round += 1) {
    known = Math.min(known, await time(wish.email))
    unknown = Math.min(unknown, await time(`${randomUUID()}@${realm.slug}.example`))
  }
  t.ok(Math.abs(known - unknown) < 40, `${known.toFixed(0)} ms and ${unknown.toFixed(0)} ms`)
})
