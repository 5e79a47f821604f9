import { randomUUID } from 'node:crypto'
import t from 'tap'
import { request } from 'undici'
import { tryPassword, isSignedIn, acceptInvitation } from '../support/login-pages.ts'
import { PASSWORD, atPortal, embeddedHarness, makeRealm, refresh, signIn } from '../support/identity.ts'
import { UserAgent, asksForPassword } from '../support/user-agent.ts'
import type { Page } from '../support/user-agent.ts'

const NEW_PASSWORD = 'the tide comes in twice a day'

async function forget(authUrl: string, slug: string, email: string): Promise<Page> {
  const agent = new UserAgent(authUrl)
  return agent.send(await agent.open(`${authUrl}/realms/${slug}/forgot`), { email })
}

function linkIn(mail: string | undefined): string {
  return /https?:\S+/.exec(mail ?? '')?.[0] ?? ''
}

t.test('a forgotten password is replaced by mail, and all sessions end', async (t) => {
  const harness = await embeddedHarness(t)
  const realm = await makeRealm(harness)
  const wish = atPortal(harness, realm)
  const before = await signIn(wish)
  const asked = await forget(harness.authUrl, realm.slug, ` ${realm.admin.email.toUpperCase()} `)
  t.equal(asked.status, 200)
  t.match(asked.text, /If this address has an account/)
  const mails = await harness.mailsTo(realm.admin.email)
  t.equal(mails.length, 1)
  const link = linkIn(mails[0])
  t.match(link, new RegExp(`^${harness.authUrl}/realms/${realm.slug}/reset\\?token=[\\w-]{43}$`))
  t.equal((await refresh(harness.authUrl, realm, before.tokens.refresh_token)).status, 200, 'asking changes nothing')

  const after = await signIn(wish)
  await acceptInvitation(harness.authUrl, link, NEW_PASSWORD)
  t.equal((await refresh(harness.authUrl, realm, after.tokens.refresh_token)).status, 400)
  const visit = await after.agent.open(
    `${harness.authUrl}/realms/${realm.slug}/protocol/openid-connect/auth?${new URLSearchParams({
      client_id: realm.portal,
      redirect_uri: 'https://portal.example/callback',
      response_type: 'code',
      scope: 'openid',
      code_challenge: 'a'.repeat(43),
      code_challenge_method: 'S256',
    })}`,
  )
  t.ok(asksForPassword(visit), 'the browser that was signed in is asked again')
  t.notOk(isSignedIn(await tryPassword(wish, PASSWORD)))
  t.ok(isSignedIn(await tryPassword(wish, NEW_PASSWORD)))
  t.equal((await acceptInvitation(harness.authUrl, link, PASSWORD)).status, 410)
  t.ok(isSignedIn(await tryPassword(wish, NEW_PASSWORD)))
})

t.test('response and timing are the same for an unknown address', async (t) => {
  const harness = await embeddedHarness(t)
  const nobody = `${randomUUID()}@example.com`
  /** The time that each takes, of the five times an hour that a known address is sent a mail. */
  const compare = async () => {
    const realm = await makeRealm(harness)
    const agent = new UserAgent(harness.authUrl)
    const form = await agent.open(`${harness.authUrl}/realms/${realm.slug}/forgot`)
    const timed = async (email: string) => {
      const began = performance.now()
      const { status, text } = await agent.send(form, { email })
      return { page: { status, text }, ms: performance.now() - began }
    }
    const known: number[] = []
    const unknown: number[] = []
    for (let round = 0; round < 5; round += 1) {
      const [first, second] = [await timed(realm.admin.email), await timed(nobody)]
      t.same(second.page, first.page)
      known.push(first.ms)
      unknown.push(second.ms)
    }
    const median = (all: number[]): number => all.toSorted((a, b) => a - b)[2] ?? 0
    return [median(known), median(unknown)] as const
  }
  // Load makes any of them slower, a difference of the service always the same one.
  let [first, second] = await compare()
  for (let again = 0; again < 4 && Math.abs(first - second) >= 60; again += 1) [first, second] = await compare()
  t.ok(Math.abs(first - second) < 60, `${first.toFixed(0)} ms and ${second.toFixed(0)} ms`)
  t.same(await harness.mailsTo(nobody), [])
})

t.test('at most five mails an hour, even for concurrent requests', async (t) => {
  const harness = await embeddedHarness(t)
  const realm = await makeRealm(harness)
  const pages = await Promise.all(
    Array.from({ length: 12 }, () => forget(harness.authUrl, realm.slug, realm.admin.email)),
  )
  t.ok(pages.every(({ status }) => status === 200))
  const mails = await harness.mailsTo(realm.admin.email)
  t.equal(mails.length, 5)
  t.equal((await acceptInvitation(harness.authUrl, linkIn(mails[4]), NEW_PASSWORD)).status, 200, 'each of them works')
  t.equal((await acceptInvitation(harness.authUrl, linkIn(mails[0]), PASSWORD)).status, 410, 'until one was taken')
})

t.test(
  'who has accepted no invitation gets five mails an hour of all realms: anybody can register merchants',
  async (t) => {
    const harness = await embeddedHarness(t, { env: { SVC_RATE_LIMITS: 'true' } })
    const email = `${randomUUID()}@stranger.example`
    const realms = [await makeRealm(harness), await makeRealm(harness)]
    for (const { slug } of realms) await harness.identity.createUser(slug, { email, roles: ['FINANCE'] })
    for (const { slug } of realms)
      for (let count = 0; count < 4; count += 1)
        t.equal((await forget(harness.authUrl, slug, email)).status, 200, 'the page says the same')
    t.equal((await harness.mailsTo(email)).length, 5)

    const own = await makeRealm(harness)
    const id = await harness.identity.createUser(own.slug, { email, roles: ['FINANCE'] })
    await harness.identity.setPassword(own.slug, id, PASSWORD)
    await forget(harness.authUrl, own.slug, email)
    t.equal((await harness.mailsTo(email)).length, 6, 'nobody uses up the mails of who has a password')
  },
)

t.test('a disabled user gets no mail, an invited one does', async (t) => {
  const harness = await embeddedHarness(t)
  const realm = await makeRealm(harness)
  const email = `grace@${realm.slug}.example`
  const id = await harness.identity.createUser(realm.slug, { email, roles: ['FINANCE'] })
  await harness.identity.setUserEnabled(realm.slug, id, false)
  await forget(harness.authUrl, realm.slug, email)
  t.same(await harness.mailsTo(email), [])
  await harness.identity.setUserEnabled(realm.slug, id, true)
  await forget(harness.authUrl, realm.slug, email)
  const [mail] = await harness.mailsTo(email)
  await acceptInvitation(harness.authUrl, linkIn(mail), NEW_PASSWORD)
  t.ok(isSignedIn(await tryPassword({ ...atPortal(harness, realm), email }, NEW_PASSWORD)))
})

t.test('an invalid address is asked for again, and one unfit for the database is unknown', async (t) => {
  const harness = await embeddedHarness(t)
  const realm = await makeRealm(harness)
  for (const email of ['', 'ada', ' ', 'a@b\u0000.example', `${'a'.repeat(400)}@b.example`]) {
    const page = await forget(harness.authUrl, realm.slug, email)
    t.equal(page.status, 422, JSON.stringify(email))
    t.match(page.text, /role="alert"/)
  }
})

t.test('used, expired, altered and foreign links show the same page', async (t) => {
  const harness = await embeddedHarness(t)
  const [realm, other] = [await makeRealm(harness), await makeRealm(harness)]
  for (let each = 0; each < 3; each += 1) await forget(harness.authUrl, realm.slug, realm.admin.email)
  const [used = '', closed = ''] = (await harness.mailsTo(realm.admin.email)).map(linkIn)
  await acceptInvitation(harness.authUrl, used, NEW_PASSWORD)
  await forget(harness.authUrl, realm.slug, realm.admin.email)
  const fresh = linkIn((await harness.mailsTo(realm.admin.email)).at(-1))
  const open = async (link: string) => {
    const answer = await request(link)
    return { status: answer.statusCode, text: await answer.body.text() }
  }
  t.equal((await open(fresh)).status, 200)
  const elsewhere = (text: string): string => text.replaceAll(other.slug, realm.slug)
  const pages = [
    await open(used),
    await open(closed),
    await open(fresh.replace('/reset?', '/invite?')),
    await open(`${fresh}x`),
    await open(fresh.replace(/token=.*/, '')),
    await open(fresh.replace(realm.slug, other.slug)),
  ]
  await harness.service.owner.query(`update idp.action_tokens set expires_at = now() - interval '1 second'`)
  pages.push(await open(fresh))
  for (const page of pages) t.same({ ...page, text: elsewhere(page.text) }, pages[0])
  t.equal(pages[0]?.status, 410)
})

t.test('pages with a token in their URL are not cached and send no Referer', async (t) => {
  const harness = await embeddedHarness(t)
  const realm = await makeRealm(harness)
  await forget(harness.authUrl, realm.slug, realm.admin.email)
  const [mail] = await harness.mailsTo(realm.admin.email)
  for (const method of ['GET', 'HEAD'] as const) {
    const answer = await request(linkIn(mail), { method })
    await answer.body.dump()
    t.equal(answer.statusCode, 200)
    t.match(answer.headers, {
      'cache-control': 'no-store',
      'referrer-policy': 'no-referrer',
      'x-content-type-options': 'nosniff',
      'content-security-policy': /default-src 'none'.*form-action 'self'; base-uri 'none'; frame-ancestors 'none'/,
    })
  }
  for (const method of ['PUT', 'DELETE'] as const) {
    const answer = await request(linkIn(mail), { method })
    await answer.body.dump()
    t.equal(answer.statusCode, 404, method)
  }
  const large = await request(linkIn(mail), {
    method: 'POST',
    headers: { 'content-type': 'application/x-www-form-urlencoded' },
    body: `password=${'a'.repeat(40_000)}`,
  })
  await large.body.dump()
  t.equal(large.statusCode, 400)
})
