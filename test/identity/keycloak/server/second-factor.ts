import { decodeJwt } from 'jose'
import t from 'tap'
import { makeKeycloakProvider } from '../../../../src/identity/keycloak/provider.ts'
import { makeIds } from '../../../../src/lib/ids.ts'
import { totpCode, totpStep } from '../../../../src/lib/totp.ts'
import { makeLog } from '../../../../src/observe/log.ts'
import {
  PASSWORD,
  atPortal,
  authorizationUrl,
  exchange,
  makeRealm,
  refresh,
  signIn,
} from '../../../support/identity.ts'
import { isSignedIn, openLogin, tryPassword } from '../../../support/login-pages.ts'
import { keycloakHarness, keycloakSettings } from '../../../support/keycloak.ts'
import { until } from '../../../support/until.ts'
import { UserAgent, formsOf } from '../../../support/user-agent.ts'
import type { Page } from '../../../support/user-agent.ts'

/** The field that Keycloak asks for an app's code with, of its set-up page and of its sign-in. */
function asksFor(page: Page, field: 'totp' | 'otp'): boolean {
  return formsOf(page.text).some(({ fields }) => fields.some(([name]) => name === field))
}

t.test('Keycloak lets a role that needs it set up an app, asks for its codes, and forgets it on a reset', async (t) => {
  const settings = keycloakSettings({ secondFactorRoles: new Set(['ADMIN']) })
  const identity = makeKeycloakProvider({ settings, ids: makeIds(), log: makeLog('silent') })
  const realm = await makeRealm({ identity })
  t.teardown(() => identity.deleteRealm(realm.slug, realm.registrationId))
  const wish = atPortal(settings, realm)
  const { agent, page } = await openLogin(wish)
  const setUp = await agent.send(page, { username: wish.email, password: PASSWORD })
  t.ok(asksFor(setUp, 'totp'), 'the password alone is not enough')
  const fields = formsOf(setUp.text).flatMap((form) => form.fields)
  const secret = Buffer.from(fields.find(([name]) => name === 'totpSecret')?.[1] ?? '')
  const code = totpCode(secret, totpStep(Date.now()))
  t.ok(isSignedIn(await agent.send(setUp, { totp: code, userLabel: 'phone' })))
  const next = await openLogin(wish)
  const asked = await next.agent.send(next.page, { username: wish.email, password: PASSWORD })
  t.ok(asksFor(asked, 'otp'), 'each sign-in asks for a code')
  await identity.setUserRoles(realm.slug, realm.admin.id, ['ADMIN'])
  t.ok(asksFor(await tryPassword(wish, PASSWORD), 'otp'), 'who has an app keeps it')
  await identity.resetFactor(realm.slug, realm.admin.id)
  t.ok(asksFor(await tryPassword(wish, PASSWORD), 'totp'), 'after a reset another is set up')
  await identity.resetFactor(realm.slug, 'nobody')
})

t.test('a new role brings the second factor with it', async (t) => {
  const settings = keycloakSettings({ secondFactorRoles: new Set(['FINANCE']) })
  const identity = makeKeycloakProvider({ settings, ids: makeIds(), log: makeLog('silent') })
  const realm = await makeRealm({ identity })
  t.teardown(() => identity.deleteRealm(realm.slug, realm.registrationId))
  const wish = atPortal(settings, realm)
  const { tokens, claims } = await signIn({ ...wish, params: { acr_values: '2' } })
  t.same([claims['amr'], claims['acr']], [['pwd'], '1'], 'a level that was not shown is not claimed')
  await identity.setUserRoles(realm.slug, realm.admin.id, ['FINANCE'])
  t.equal((await refresh(wish.authUrl, realm, tokens.refresh_token)).status, 400, 'the sign-in without it has ended')
  t.ok(asksFor(await tryPassword(wish, PASSWORD), 'totp'))
})

t.test('the link of a mail neither replaces the app nor signs in without it', async (t) => {
  const harness = await keycloakHarness(t)
  const { identity, authUrl } = harness
  const realm = await makeRealm({ identity })
  t.teardown(() => identity.deleteRealm(realm.slug, realm.registrationId))
  const wish = atPortal({ authUrl }, realm)
  await identity.resetFactor(realm.slug, realm.admin.id)
  const { agent, page } = await openLogin(wish)
  const setUp = await agent.send(page, { username: wish.email, password: PASSWORD })
  const fields = formsOf(setUp.text).flatMap((form) => form.fields)
  const secret = Buffer.from(fields.find(([name]) => name === 'totpSecret')?.[1] ?? '')
  const step = totpStep(Date.now())
  t.ok(isSignedIn(await agent.send(setUp, { totp: totpCode(secret, step - 1), userLabel: 'phone' })))

  const thief = await openLogin(wish)
  const forgot = /href="([^"]*reset-credentials[^"]*)"/.exec(thief.page.text)?.[1]?.replaceAll('&amp;', '&') ?? ''
  await thief.agent.send(await thief.agent.open(forgot), { username: wish.email })
  const link = async () => /https?:\S+action-token\S+/.exec((await harness.mailsTo(wish.email)).at(-1) ?? '')?.[0] ?? ''
  await until('the mail with the link', async () => (await link()) !== '')
  const newPassword = await thief.agent.open(await link())
  const password = 'another password that nobody guesses'
  const after = await thief.agent.send(newPassword, { 'password-new': password, 'password-confirm': password })
  t.notOk(isSignedIn(after))
  t.notOk(asksFor(after, 'totp'), 'no other app')
  const owner = new UserAgent(authUrl)
  const { url, verifier } = authorizationUrl(wish)
  const login = await owner.open(url)
  const asked = await owner.send(login, { username: wish.email, password })
  t.ok(asksFor(asked, 'otp'), 'the new password needs the app')
  // The mail may have taken half a minute.
  const end = await owner.send(asked, { otp: totpCode(secret, totpStep(Date.now())) })
  t.ok(isSignedIn(end), 'the old one works')
  const { body } = await exchange(wish, { code: end.left?.searchParams.get('code') ?? '', verifier })
  t.same(decodeJwt(body.access_token)['amr'], ['pwd', 'otp'], 'and its tokens name it')
})
