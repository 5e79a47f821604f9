import { createHash } from 'node:crypto'
import t from 'tap'
import type { Test } from 'tap'
import { totpCode, totpStep } from '../../../src/lib/totp.ts'
import { testService } from '../../support/app.ts'
import {
  PASSWORD,
  ask,
  atPortal,
  authorizationUrl,
  embeddedHarness,
  exchange,
  makeRealm,
  refresh,
  signIn,
} from '../../support/identity.ts'
import type { SignInInput, TestRealm } from '../../support/identity.ts'
import { acceptInvitation, isSignedIn, openLogin } from '../../support/login-pages.ts'
import { afterLinks, secretOf } from '../../support/second-factor.ts'
import { merchantWithPortal, portalTokens, takeInvitation } from '../../support/sign-in.ts'
import { UserAgent } from '../../support/user-agent.ts'
import type { Page } from '../../support/user-agent.ts'
import { decodeJwt } from 'jose'

const STEP_MS = 30_000

type Harness = Awaited<ReturnType<typeof embeddedHarness>>

/** ADMINs need a second factor. */
async function harnessOf(t: Test): Promise<{ harness: Harness; realm: TestRealm; wish: SignInInput }> {
  const harness = await embeddedHarness(t, { env: { SVC_SECOND_FACTOR: 'ADMIN' } })
  const realm = await makeRealm(harness)
  await afterLinks(harness.service)
  return { harness, realm, wish: atPortal(harness, realm) }
}

/** Types the password, and returns what the browser shows next. */
async function afterPassword(
  wish: SignInInput,
  params: Record<string, string> = {},
): Promise<{ agent: UserAgent; page: Page; verifier: string }> {
  const agent = new UserAgent(wish.authUrl)
  const { url, verifier } = authorizationUrl({ ...wish, params })
  const page = await agent.send(await agent.open(url), { email: wish.email, password: PASSWORD })
  return { agent, page, verifier }
}

/** The code of an app, some steps from now. */
function codeOf(secret: Buffer, stepsOff = 0): string {
  return totpCode(secret, totpStep(Date.now() + stepsOff * STEP_MS))
}

/** Enrols at the first sign-in. */
async function enrol(wish: SignInInput, params: Record<string, string> = {}) {
  const { agent, page, verifier } = await afterPassword(wish, params)
  const secret = secretOf(page)
  const { shown, code } = await confirm(agent, page, secret)
  const recoveryCodes = [...shown.text.matchAll(/<li>([A-Z2-7-]+)<\/li>/g)].flatMap(([, found]) => found ?? [])
  return { agent, secret, code, shown, recoveryCodes, verifier }
}

/** Sends the code of the step before, so that the next one works in the same half minute; again if that ended on the way. */
async function confirm(agent: UserAgent, page: Page, secret: Buffer): Promise<{ shown: Page; code: string }> {
  for (;;) {
    const code = codeOf(secret, -1)
    const shown = await agent.send(page, { code })
    if (shown.status !== 422 || codeOf(secret, -1) === code) return { shown, code }
  }
}

async function tokensOf(wish: SignInInput, page: Page, verifier: string) {
  const code = page.left?.searchParams.get('code') ?? ''
  const { body } = await exchange(wish, { code, verifier })
  return { body, claims: decodeJwt(body.access_token) }
}

t.test('a role that needs it sets up an app at the first sign-in, and its tokens say so', async (t) => {
  const { harness, realm, wish } = await harnessOf(t)
  const { page } = await afterPassword(wish)
  t.match(page.text, /<h1>Set up a second factor/)
  t.match(page.text, /<svg class="qr"/)
  t.match(String(page.headers['content-security-policy']), /default-src 'none'/)
  const { agent, secret, shown, recoveryCodes, verifier } = await enrol(wish)
  t.equal(recoveryCodes.length, 10)
  t.equal(new Set(recoveryCodes).size, 10)
  const again = await agent.open(shown.url)
  t.match(again.text, recoveryCodes[0] ?? 'none', 'they stay until the person continues')
  const end = await agent.send(again, {}, ['action', 'continue'])
  t.ok(isSignedIn(end))
  const { body, claims } = await tokensOf(wish, end, verifier)
  t.match(claims, { acr: '2', amr: ['pwd', 'otp', 'mfa'] })
  t.ok(Math.abs(Number(claims['auth_time']) - Date.now() / 1_000) < 60)
  const renewed = await refresh(wish.authUrl, realm, body.refresh_token)
  t.match(decodeJwt(renewed.body.access_token), { acr: '2', auth_time: claims['auth_time'] })
  const { rows } = await harness.service.owner.query(
    'select s.secret, r.code_hash from idp.second_factors s join idp.recovery_codes r using (user_id)',
  )
  t.equal(rows.length, 10)
  t.notOk(JSON.stringify(rows).includes(secret.toString('base64')), 'the secret is sealed')
  const hashes = recoveryCodes.map((code) => createHash('sha256').update(code.replaceAll('-', '')).digest('hex'))
  t.same(rows.map(({ code_hash }) => code_hash).sort(), hashes.sort())
  t.match(await harness.mailsTo(realm.admin.email), [/An authenticator app was set up/])
  const { rows: actions } = await harness.service.owner.query('select action, actor_name from operator_actions')
  t.same(actions, [{ action: 'factor.set_up', actor_name: realm.admin.email }])
})

t.test('a code works once, and only near its time', async (t) => {
  const { wish } = await harnessOf(t)
  const { secret, code: used } = await enrol(wish)
  const { agent, page } = await afterPassword(wish)
  t.match(page.text, /<h1>Enter your code/)
  t.notOk(isSignedIn(await agent.send(page, { code: used })), 'the code of the set-up is used')
  t.notOk(isSignedIn(await agent.send(page, { code: codeOf(secret, 3) })), 'a code of two minutes later')
  t.notOk(isSignedIn(await agent.send(page, { code: '' })))
  const code = codeOf(secret)
  t.ok(isSignedIn(await agent.send(page, { code })))
  const other = await afterPassword(wish)
  const replayed = await other.agent.send(other.page, { code })
  t.equal(replayed.status, 422)
  t.match(replayed.text, /wrong or was used before/)
})

t.test('of concurrent uses of one code one succeeds, and five wrong codes lock', async (t) => {
  const { harness, realm, wish } = await harnessOf(t)
  const { secret, recoveryCodes } = await enrol(wish)
  const browsers = await Promise.all(Array.from({ length: 4 }, () => afterPassword(wish)))
  const code = codeOf(secret)
  const pages = await Promise.all(browsers.map(({ agent, page }) => agent.send(page, { code })))
  t.equal(pages.filter(isSignedIn).length, 1)
  const { agent, page } = await afterPassword(wish)
  const wrong = await Promise.all(Array.from({ length: 20 }, () => agent.send(page, { code: '000000' })))
  t.notOk(wrong.some(isSignedIn))
  t.notOk(isSignedIn(await agent.send(page, { code: codeOf(secret, 1) })), 'even the right one is refused')
  t.match((await agent.send(page, { code: recoveryCodes[0] ?? '' })).text, /wrong or was used/, 'and recovery codes')
  const { rows } = await harness.service.owner.query(
    'select failed_codes, locked_until > now() as is_locked from idp.second_factors',
  )
  t.match(rows, [{ is_locked: true }])
  const warnings = (await harness.mailsTo(realm.admin.email)).filter((mail) => /Five wrong codes/.test(mail))
  t.equal(warnings.length, 1, 'the person is told once')
  // A right password does not open the lock.
  const next = await afterPassword(wish)
  t.notOk(isSignedIn(await next.agent.send(next.page, { code: codeOf(secret, 1) })))
  await harness.service.owner.query('update idp.second_factors set locked_until = now()')
  t.ok(isSignedIn(await next.agent.send(next.page, { code: codeOf(secret, 1) })))
})

t.test('a recovery code works once, and leads to a new app if that is wanted', async (t) => {
  const { harness, realm, wish } = await harnessOf(t)
  const { secret, recoveryCodes } = await enrol(wish)
  const first = await afterPassword(wish)
  const shown = await first.agent.send(first.page, { code: (recoveryCodes[0] ?? '').toLowerCase() })
  t.ok(isSignedIn(await first.agent.send(shown, {}, ['action', 'continue'])))
  const second = await afterPassword(wish)
  t.equal((await second.agent.send(second.page, { code: recoveryCodes[0] ?? '' })).status, 422, 'not twice')
  const offered = await second.agent.send(second.page, { code: recoveryCodes[1] ?? '' })
  const page = await second.agent.send(offered, {}, ['action', 'replace'])
  const newSecret = secretOf(page)
  const codes = await second.agent.send(page, { code: codeOf(newSecret) })
  t.ok(isSignedIn(await second.agent.send(codes, {}, ['action', 'continue'])))
  t.match((await harness.mailsTo(realm.admin.email)).join('\n'), /A recovery code was used[^]*9 are left[^]*8 are left/)
  const third = await afterPassword(wish)
  t.notOk(isSignedIn(await third.agent.send(third.page, { code: codeOf(secret) })), 'the old app is of no use')
  t.notOk(isSignedIn(await third.agent.send(third.page, { code: recoveryCodes[2] ?? '' })), 'nor its codes')
  t.ok(isSignedIn(await third.agent.send(third.page, { code: codeOf(newSecret, 1) })))
})

t.test('a set-up that began before another one, a new password or a reset comes too late', async (t) => {
  const { harness, realm, wish } = await harnessOf(t)
  const refuse = async ({ agent, page }: Awaited<ReturnType<typeof afterPassword>>, why: string) => {
    const refused = await agent.send(page, { code: codeOf(secretOf(page)) })
    t.notMatch(refused.text, /[A-Z2-7]{4}-[A-Z2-7]{4}/, `${why}: no recovery codes`)
    t.notOk(isSignedIn(await agent.send(page, {}, ['action', 'continue'])), why)
  }
  const factors = async () => (await harness.service.owner.query('select secret from idp.second_factors')).rows
  const [before, slow] = [await afterPassword(wish), await afterPassword(wish)]
  const { secret } = await enrol(wish)
  const ofOwner = await factors()
  await refuse(before, 'another browser was faster')
  t.same(await factors(), ofOwner)
  const signedIn = await afterPassword(wish)
  t.ok(isSignedIn(await signedIn.agent.send(signedIn.page, { code: codeOf(secret) })), 'the app of the owner works')
  await harness.identity.resetFactor(realm.slug, realm.admin.id)
  await refuse(slow, 'the factor was reset')
  const owner = harness.service.owner
  const [old, disabled, ended] = [await afterPassword(wish), await afterPassword(wish), await afterPassword(wish)]
  await owner.query('update idp.users set is_enabled = false')
  await refuse(disabled, 'the user is disabled')
  await owner.query('update idp.users set is_enabled = true')
  await owner.query("update idp.users set sessions_valid_from = now() + interval '1 minute'")
  await refuse(ended, 'its sessions were ended, even if a concurrent request wrote the sign-in back')
  const { rows } = await owner.query("select 1 from idp.state where model = 'Interaction' and subject is not null")
  t.ok(rows.length > 0, 'a pending sign-in belongs to its user')
  await harness.identity.setPassword(realm.slug, realm.admin.id, PASSWORD)
  await refuse(old, 'the password was changed')
  t.same((await owner.query("select 1 from idp.state where model = 'Interaction'")).rows, [], 'it ended with it')
  t.same(await factors(), [])
})

t.test('a sign-in that is dated ahead does not wait longer for its factor than others', async (t) => {
  const { harness, wish } = await harnessOf(t)
  const { secret } = await enrol(wish)
  const { owner } = harness.service
  await owner.query("update idp.users set sessions_valid_from = now() + interval '1 hour'")
  const { agent, page } = await afterPassword(wish)
  t.match(page.text, /type="password"/, 'the password has to be entered again')
  t.notOk(isSignedIn(await agent.send(page, { code: codeOf(secret) })))
  await owner.query("update idp.users set sessions_valid_from = date_trunc('second', now()) + interval '2 seconds'")
  const soon = await afterPassword(wish)
  t.ok(isSignedIn(await soon.agent.send(soon.page, { code: codeOf(secret) })), 'right after the end of all sessions')
})

t.test('a password that no mailed link has just set needs the code of a mail for a first factor', async (t) => {
  const { harness, realm, wish } = await harnessOf(t)
  const { owner } = harness.service
  const codeOfMail = async () =>
    /[A-Z2-7]{4}-[A-Z2-7]{4}/.exec((await harness.mailsTo(wish.email)).at(-1) ?? '')?.[0] ?? ''
  await owner.query("update idp.users set password_linked_at = now() - interval '61 minutes'")
  const first = await afterPassword(wish)
  t.match(first.page.text, /<h1>Check your e-mail/)
  const ofFirst = await codeOfMail()
  const { agent, page } = await afterPassword(wish)
  for (const wrong of ['', 'AAAA-AAAA', ofFirst, '000000']) {
    const refused = await agent.send(page, { code: wrong })
    t.equal(refused.status, 422)
    t.notMatch(refused.text, /<kbd>/)
  }
  t.notMatch((await agent.send(page, {}, ['action', 'continue'])).text, /<kbd>/)
  const setUp = await agent.send(page, { code: (await codeOfMail()).toLowerCase().replace('-', ' ') })
  const codes = await agent.send(setUp, { code: codeOf(secretOf(setUp)) })
  t.match(codes.text, /Store your recovery codes/)
  await harness.identity.resetFactor(realm.slug, realm.admin.id)
  for (let mail = 3; mail <= 5; mail += 1) await afterPassword(wish)
  const sixth = await afterPassword(wish)
  t.equal(sixth.page.status, 429, 'five mails an hour')
  t.match(sixth.page.text, /At most five codes an hour/)
  const [, forgot = ''] = /href="([^"]+\/forgot[^"]*)"/.exec(sixth.page.text) ?? []
  t.equal((await sixth.agent.open(new URL(forgot, wish.authUrl).href)).status, 200, 'and what to do instead')
  t.notMatch((await sixth.agent.open(sixth.page.url)).text, /<kbd>/)
  const link = await harness.identity.inviteUser(realm.slug, realm.admin.id, {
    clientId: realm.portal,
    lifespanSeconds: 600,
    deliver: 'link',
    merchantId: null,
  })
  await acceptInvitation(wish.authUrl, link ?? '', PASSWORD)
  t.ok(secretOf((await afterPassword(wish)).page), 'a new link is enough')
})

t.test('a password alone gets nothing, by whatever path', async (t) => {
  const { wish } = await harnessOf(t)
  await enrol(wish)
  const { agent, page } = await afterPassword(wish)
  const uid = /interaction\/([\w-]+)/.exec(page.url)?.[1] ?? ''
  const resumed = await agent.open(`${wish.authUrl}/realms/${wish.realm}/protocol/openid-connect/auth/${uid}`)
  t.equal(resumed.left, undefined, 'the library does not take the password for the sign-in')
  const later = await openLogin(wish)
  const posted = await later.agent.send(later.page, { email: wish.email, password: PASSWORD, action: 'continue' })
  t.match(posted.text, /<h1>Enter your code/)
  const continued = await later.agent.send(posted, {}, ['action', 'continue'])
  t.notOk(isSignedIn(continued), 'nor is the last page reached by its button')
  t.notOk(isSignedIn(await later.agent.send(posted, {}, ['action', 'replace'])))
})

t.test('a session and refresh tokens without it end when the role needs it', async (t) => {
  const harness = await embeddedHarness(t, { env: { SVC_SECOND_FACTOR: 'FINANCE' } })
  const realm = await makeRealm(harness)
  const wish = atPortal(harness, realm)
  const { tokens, claims, agent } = await signIn(wish)
  t.match(claims, { acr: '1', amr: ['pwd'] })
  await harness.identity.setUserRoles(realm.slug, realm.admin.id, ['FINANCE'])
  t.equal((await refresh(wish.authUrl, realm, tokens.refresh_token)).status, 400)
  const page = await agent.open(authorizationUrl(wish).url)
  t.match(page.text, /type="password"/, 'the session is not enough')
})

t.test('acr_values asks for it where no role does, and a reset ends it', async (t) => {
  const harness = await embeddedHarness(t)
  const realm = await makeRealm(harness)
  const wish = atPortal(harness, realm)
  await afterLinks(harness.service)
  const { agent, tokens: earlier } = await signIn(wish)
  const { agent: elsewhere } = await signIn(wish)
  const { url, verifier } = authorizationUrl({ ...wish, params: { acr_values: '2' } })
  const page = await agent.open(url)
  t.match(page.text, /type="password"/, 'the session lacks the factor')
  const setUp = await agent.send(page, { email: wish.email, password: PASSWORD })
  const secret = secretOf(setUp)
  const codes = await agent.send(setUp, { code: codeOf(secret) })
  const end = await agent.send(codes, {}, ['action', 'continue'])
  const { body, claims } = await tokensOf(wish, end, verifier)
  t.equal(claims['acr'], '2')
  t.equal((await refresh(wish.authUrl, realm, earlier.refresh_token)).status, 400, 'earlier sign-ins end')
  t.notOk(isSignedIn(await elsewhere.open(authorizationUrl(wish).url)), 'in other browsers too')
  t.ok(
    isSignedIn(await agent.open(authorizationUrl({ ...wish, params: { acr_values: '2' } }).url)),
    'and now it has it',
  )
  t.notOk(isSignedIn((await afterPassword(wish)).page), 'from now on every sign-in needs the code')
  await harness.identity.resetFactor(realm.slug, realm.admin.id)
  t.equal((await refresh(wish.authUrl, realm, body.refresh_token)).status, 400)
  t.match((await harness.mailsTo(realm.admin.email)).at(-1), /was removed/)
  await t.resolves(signIn(wish), 'a password is enough again')
  await harness.identity.resetFactor(realm.slug, 'nobody')
})

t.test(
  'a program on the machine gets tokens of a new sign-in with the factor, in the browser and by device',
  async (t) => {
    const harness = await embeddedHarness(t)
    const realm = await makeRealm(harness)
    await afterLinks(harness.service)
    const redirectUri = 'http://127.0.0.1:4711/callback'
    const wish = { ...atPortal(harness, realm), clientId: realm.cli, redirectUri, scope: 'openid offline_access' }
    const params = { acr_values: '2', max_age: '0' }
    const { agent, secret, shown, verifier } = await enrol(wish, params)
    const consent = await agent.send(shown, {}, ['action', 'continue'])
    const { claims } = await tokensOf(wish, await agent.send(consent, {}, ['action', 'allow']), verifier)
    t.equal(claims['acr'], '2')
    const form = { client_id: realm.cli, scope: 'openid', code_challenge_method: 'S256', ...params }
    const challenge = createHash('sha256').update(verifier).digest('base64url')
    const started = await ask(wish.authUrl, realm.slug, 'auth/device', { ...form, code_challenge: challenge })
    const other = new UserAgent(wish.authUrl)
    const input = await other.open(started.body.verification_uri_complete)
    const shownCode = input.text.includes('Do you see this code') ? input : await other.send(input, {})
    const login = await other.send(shownCode, {})
    const codePage = await other.send(login, { email: wish.email, password: PASSWORD })
    const allow = await other.send(codePage, { code: codeOf(secret) })
    t.match((await other.send(allow, {}, ['action', 'allow'])).text, /You are signed in/)
    const { body } = await ask(wish.authUrl, realm.slug, 'token', {
      grant_type: 'urn:ietf:params:oauth:grant-type:device_code',
      client_id: realm.cli,
      device_code: started.body.device_code,
      code_verifier: verifier,
    })
    t.equal(decodeJwt(body.access_token)['acr'], '2')
  },
)

t.test('an ADMIN resets the factor of another member, an operator that of the only ADMIN', async (t) => {
  const service = await testService(t, { env: { SVC_IDENTITY: 'embedded' } })
  const merchant = await merchantWithPortal(service)
  const factorOf = async (email: string) => {
    const invited = await service.call('POST', '/api/v1/portal/team', { merchant, body: { email, role: 'ADMIN' } })
    const id = String(invited.body.id)
    await service.owner.query(
      "insert into idp.second_factors (user_id, secret, last_step) values ($1, 'v1.sealed', 0)",
      [id],
    )
    return id
  }
  const count = async () => (await service.owner.query('select user_id from idp.second_factors')).rows.length
  const [ada, bob] = [await factorOf('ada@acme.example'), await factorOf('bob@acme.example')]
  const listed = async () => {
    const { body } = await service.call('GET', '/api/v1/portal/team', { merchant })
    return new Map(body.data.map((row: { id: string; second_factor: boolean }) => [row.id, row.second_factor]))
  }
  t.same([(await listed()).get(ada), (await listed()).get(bob)], [true, true])
  t.match(await service.call('POST', `/api/v1/portal/team/${bob}/reset-factor`, { merchant }), { status: 200 })
  t.equal(await count(), 1)
  t.same([(await listed()).get(ada), (await listed()).get(bob)], [true, false], 'a list shows who has one')
  await takeInvitation(service, 'ada@acme.example')
  await service.owner.query('delete from idp.second_factors')
  const { access_token: token } = await portalTokens(service, merchant.realm, 'ada@acme.example')
  const own = await service.call('POST', `/api/v1/portal/team/${ada}/reset-factor`, {
    headers: { authorization: `Bearer ${token}` },
  })
  t.match(own, { status: 409, body: { code: 'OWN_FACTOR' } })
  const stranger = await service.merchant()
  const foreign = await service.call('POST', `/api/v1/portal/team/${ada}/reset-factor`, { merchant: stranger })
  t.equal(foreign.status, 404, 'of another merchant nobody resets it')
  await service.owner.query("insert into idp.second_factors (user_id, secret, last_step) values ($1, 'v1.sealed', 0)", [
    ada,
  ])
  const path = `/api/v1/admin/merchants/${merchant.id}/reset-factor`
  const body = { email: 'ada@acme.example', reason: 'lost the phone' }
  const denied = await service.call('POST', path, { headers: await service.operator('SUPPORT'), body })
  t.equal(denied.status, 403)
  const headers = await service.operator('OPS')
  t.match(await service.call('POST', path, { headers, body }), { status: 200, body: { email: body.email } })
  t.equal(await count(), 0)
  const nobody = await service.call('POST', path, { headers, body: { ...body, email: 'eve@acme.example' } })
  t.match(nobody, { status: 404, body: { code: 'TEAM_MEMBER_NOT_FOUND' } })
})

t.test('a reset mails the person once, and not at all without a second factor', async (t) => {
  const service = await testService(t, { env: { SVC_IDENTITY: 'embedded' } })
  const merchant = await merchantWithPortal(service)
  const body = { email: 'grace@bank.example', role: 'FINANCE' }
  const id = String((await service.call('POST', '/api/v1/portal/team', { merchant, body })).body.id)
  const reset = async () =>
    t.match(await service.call('POST', `/api/v1/portal/team/${id}/reset-factor`, { merchant }), { status: 200 })
  const left = async () => {
    const { rows } = await service.owner.query(
      `select
        (select count(*) from mails where kind = 'factor')::int as mails,
        (select count(*) from operator_actions where action = 'team.reset_factor')::int as recorded,
        (select sessions_valid_from from idp.users where id = $1) as sessions_valid_from`,
      [id],
    )
    return rows[0]
  }
  const before = await left()
  for (let count = 0; count < 10; count += 1) await reset()
  t.same(await left(), before, 'someone who is only invited gets no mail, and nothing is changed or recorded')
  t.match(before, { mails: 0, recorded: 0 })
  await service.owner.query("insert into idp.second_factors (user_id, secret, last_step) values ($1, 'v1.sealed', 0)", [
    id,
  ])
  await Promise.all([1, 2, 3].map(reset))
  t.match(await left(), { mails: 1 }, 'of several resets one has removed it')
  const after = await left()
  t.ok(after.sessions_valid_from > before.sessions_valid_from)
  await reset()
  t.same(await left(), after)
})
