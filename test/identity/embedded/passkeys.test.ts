import t from 'tap'
import { decodeJwt } from 'jose'
import { freePort } from '../../support/free-port.ts'
import { relyingPartyOf } from '../../../src/identity/embedded/users/passkeys.ts'
import { Authenticator, optionsOf } from '../../support/authenticator.ts'
import type { Faults } from '../../support/authenticator.ts'
import { PASSWORD, atPortal, authorizationUrl, embeddedHarness, exchange, makeRealm } from '../../support/identity.ts'
import type { SignInInput } from '../../support/identity.ts'
import { isSignedIn } from '../../support/login-pages.ts'
import { afterLinks, secretOf } from '../../support/second-factor.ts'
import { totpCode, totpStep } from '../../../src/lib/totp.ts'
import { UserAgent } from '../../support/user-agent.ts'
import type { Page } from '../../support/user-agent.ts'

const port = await freePort()
const ORIGIN = `http://localhost:${port}`
const harness = await embeddedHarness(t, {
  env: { SVC_SECOND_FACTOR: 'ADMIN', SVC_PORT: String(port), SVC_PUBLIC_URL: ORIGIN },
})
const { owner } = harness.service

/** An ADMIN in a realm of its own, who needs a second factor. */
async function person(): Promise<{ wish: SignInInput; id: string; email: string }> {
  const realm = await makeRealm(harness)
  await afterLinks(harness.service)
  return { wish: atPortal(harness, realm), ...realm.admin }
}

/** A browser after the password. */
async function browserOf(wish: SignInInput) {
  const agent = new UserAgent(wish.authUrl)
  const { url, verifier } = authorizationUrl(wish)
  const page = await agent.send(await agent.open(url), { email: wish.email, password: PASSWORD })
  /** Sends the form of the passkey. */
  const answer = (at: Page, passkey: string, more: Record<string, string> = {}): Promise<Page> =>
    agent.send(
      { ...at, text: at.text.slice(at.text.lastIndexOf('<form', at.text.indexOf('data-passkey="'))) },
      { passkey, ...more },
    )
  const act = (at: Page, action: string, more: Record<string, string> = {}): Promise<Page> =>
    agent.send(at, more, ['action', action])
  const claimsOf = async (end: Page) => {
    const { body } = await exchange(wish, { code: end.left?.searchParams.get('code') ?? '', verifier })
    return decodeJwt(body.access_token)
  }
  return { page, answer, act, claimsOf, agent }
}

/** A person whose only factor is a passkey. */
async function withPasskey(options: { isSynced?: boolean } = {}) {
  const { wish, ...who } = await person()
  const authenticator = new Authenticator(ORIGIN, options)
  const { page, answer, act, claimsOf } = await browserOf(wish)
  const codes = await answer(page, authenticator.create(page), { name: '  My\nlaptop ' })
  const recoveryCodes = [...codes.text.matchAll(/<li>([A-Z2-7-]+)<\/li>/g)].flatMap(([, code]) => code ?? [])
  const claims = await claimsOf(await act(codes, 'continue'))
  return { wish, ...who, authenticator, recoveryCodes, claims }
}

t.test('browsers allow passkeys at a name with TLS, and at localhost', async (t) => {
  t.same(relyingPartyOf('https://pay.example/base'), { id: 'pay.example', origin: 'https://pay.example' })
  t.same(relyingPartyOf('http://localhost:4010'), { id: 'localhost', origin: 'http://localhost:4010' })
  for (const url of ['http://pay.example', 'https://192.0.2.7', 'https://[2001:db8::1]:8443', 'http://127.0.0.1:4010'])
    t.equal(relyingPartyOf(url), null, url)
})

t.test('a passkey is set up in the place of an app, and signs in', async (t) => {
  const { wish, id, email, authenticator, recoveryCodes, claims } = await withPasskey()
  t.equal(recoveryCodes.length, 10)
  t.match(claims, { acr: '2', amr: ['pwd', 'hwk', 'user', 'mfa'] })
  const { page, answer, claimsOf } = await browserOf(wish)
  t.match(page.text, /recovery codes, if you have no passkey/)
  t.match(optionsOf(page), {
    rpId: 'localhost',
    userVerification: 'required',
    allowCredentials: [{ id: authenticator.id.toString('base64url') }],
  })
  const end = await answer(page, authenticator.get(page))
  t.ok(isSignedIn(end))
  const later = await claimsOf(end)
  t.match(later, { acr: '2', amr: ['pwd', 'hwk', 'user', 'mfa'] })
  t.ok(Math.abs(Number(later['auth_time']) - Date.now() / 1_000) < 60, 'it is a new sign-in')
  const { rows } = await owner.query('select name, sign_count, is_synced from idp.passkeys where user_id = $1', [id])
  t.same(rows, [{ name: 'My laptop', sign_count: '1', is_synced: false }])
  t.match(await harness.mailsTo(email), [/The passkey "My laptop" was added/])
})

t.test('a synced passkey does not count, and is named as a key in software', async (t) => {
  const { wish, authenticator, claims } = await withPasskey({ isSynced: true })
  t.match(claims, { amr: ['pwd', 'swk', 'user', 'mfa'] })
  for (const _ of [1, 2]) {
    const { page, answer } = await browserOf(wish)
    t.ok(isSignedIn(await answer(page, authenticator.get(page))))
  }
})

t.test('no other answer signs in', async (t) => {
  const { wish, authenticator } = await withPasskey()
  const stranger = await withPasskey()
  const unknown = new Authenticator(ORIGIN)
  const first = await browserOf(wish)
  const used = authenticator.get(first.page)
  t.ok(isSignedIn(await first.answer(first.page, used)))
  const refused: Record<string, (page: Page) => string> = {
    'of another origin': (page) => authenticator.get(page, { origin: 'http://localhost.evil.example' }),
    'of another port': (page) => authenticator.get(page, { origin: 'http://localhost:1' }),
    'for another host': (page) => authenticator.get(page, { rpId: 'evil.example' }),
    'of an earlier page': () => used,
    'for another challenge': (page) => authenticator.get(page, { challenge: 'AAAA' }),
    'without verifying the person': (page) => authenticator.get(page, { isVerified: false }),
    'with a count that goes back': (page) => authenticator.get(page, { signCount: 1 }),
    'with a count of nothing': (page) => authenticator.get(page, { signCount: 0 }),
    'made for creating': (page) => authenticator.get(page, { type: 'webauthn.create' }),
    'of another person': (page) => stranger.authenticator.get(page),
    'of a passkey that was never added': (page) => unknown.get(page),
    'that is empty': () => '',
    'that is no JSON': () => '{',
    'of another shape': () => '{"id":[]}',
  }
  const { page: opened, answer } = await browserOf(wish)
  let page = opened
  for (const [what, answerOf] of Object.entries(refused)) {
    const end = await answer(page, answerOf(page))
    t.equal(end.status, 422, what)
    t.match(end.text, /This passkey was not accepted/, what)
    t.not(optionsOf(end).challenge, optionsOf(page).challenge, 'the next try has another challenge')
    page = end
  }
  // Its signature is the person's, the credential's id another's.
  const forged = { ...JSON.parse(authenticator.get(page)), id: stranger.authenticator.id.toString('base64url') }
  t.equal((await answer(page, JSON.stringify({ ...forged, rawId: forged.id }))).status, 422)
  const wrong = await answer(page, authenticator.get(page))
  t.equal(wrong.status, 422, 'a challenge is answered once, even wrongly')
  t.ok(isSignedIn(await answer(wrong, authenticator.get(wrong))), 'and the next one is good')
})

t.test('no other answer becomes a passkey', async (t) => {
  const { wish, id } = await person()
  const { authenticator: known } = await withPasskey()
  const refused: Record<string, Faults> = {
    'of another origin': { origin: 'http://localhost.evil.example' },
    'for another host': { rpId: 'evil.example' },
    'for another challenge': { challenge: 'AAAA' },
    'without verifying the person': { isVerified: false },
    'made for signing in': { type: 'webauthn.get' },
  }
  const { page: opened, answer } = await browserOf(wish)
  let page = opened
  for (const [what, faults] of Object.entries(refused)) {
    const end = await answer(page, new Authenticator(ORIGIN).create(page, faults))
    t.equal(end.status, 422, what)
    t.notMatch(end.text, /[A-Z2-7]{4}-[A-Z2-7]{4}/, 'no recovery codes')
    page = end
  }
  const own = known.create(page)
  const taken = await answer(page, own)
  t.equal(taken.status, 422, 'a passkey belongs to one person')
  t.same((await owner.query('select 1 from idp.second_factors where user_id = $1', [id])).rows, [], 'nothing is left')
  const next = new Authenticator(ORIGIN)
  t.match((await answer(taken, next.create(taken))).text, /Store your recovery codes/, 'the same sign-in may go on')
})

t.test('a password alone adds no passkey where there is a factor', async (t) => {
  const { wish, id } = await withPasskey()
  const { page, act } = await browserOf(wish)
  const passkey = new Authenticator(ORIGIN).create(page)
  t.notOk(isSignedIn(await act(page, 'add', { passkey, name: 'mine' })))
  for (const action of ['manage', 'renew', 'remove', 'replace', 'continue']) {
    const end = await act(page, action, { passkey: '', part: 'app' })
    t.notOk(isSignedIn(end), action)
    t.notMatch(end.text, /Make new recovery codes|I have stored them|<kbd>/, action)
  }
  const { rows } = await owner.query('select name from idp.passkeys where user_id = $1', [id])
  t.same(rows, [{ name: 'My laptop' }])
})

t.test('several have names, and all but the last are removed by their owner', async (t) => {
  const { wish, id, email, authenticator } = await withPasskey()
  const { page, answer, act, agent } = await browserOf(wish)
  const list = await answer(page, authenticator.get(page), { action: 'manage' })
  t.match(list.text, /<h1>Your second factor/)
  t.notMatch(list.text, /Remove/, 'the last one stays')
  const last = await act(list, 'remove', { part: authenticator.id.toString('base64url') })
  t.match(last.text, /This is the last one/)
  const key = new Authenticator(ORIGIN)
  const two = await answer(last, key.create(last), { name: 'Key <b>' })
  t.match(two.text, /My laptop[^]*Key &lt;b&gt;[^]*10 of them work/)
  const again = await answer(two, key.create(two), { name: 'twice' })
  t.equal(again.status, 422, 'not twice')
  const setUp = await act(again, 'replace')
  t.notMatch(setUp.text, /data-passkey="/, 'this page is for an app')
  const secret = secretOf(setUp)
  const codes = await agent.send(setUp, { code: totpCode(secret, totpStep(Date.now())) })
  const three = await act(codes, 'manage')
  t.match(three.text, /You have one[^]*10 of them work/)
  const { page: elsewhere, answer: answerElsewhere, act: actElsewhere } = await browserOf(wish)
  const opened = await answerElsewhere(elsewhere, key.get(elsewhere), { action: 'manage' })
  const without = await act(three, 'remove', { part: key.id.toString('base64url') })
  t.notMatch(without.text, /Key &lt;b&gt;/)
  t.match((await actElsewhere(opened, 'renew')).text, /This sign-in has ended/, 'who holds it changes nothing more')
  t.match((await act(without, 'remove', { part: 'app' })).text, /You have none/)
  const renewed = await act(without, 'renew')
  t.match(renewed.text, /I have stored them/)
  t.ok(isSignedIn(await act(renewed, 'continue')))
  const end = await browserOf(wish)
  t.equal((await end.answer(end.page, key.get(end.page))).status, 422, 'a removed passkey signs in no more')
  t.match(
    (await harness.mailsTo(email)).join('\n'),
    /"Key <b>" was added[^]*app was set up[^]*A passkey was removed[^]*app was removed[^]*New recovery codes/,
  )
  const { rows } = await owner.query('select action from operator_actions where subject_id = $1 order by ordinal', [id])
  t.same(
    rows.map(({ action }) => action),
    ['add_passkey', 'add_passkey', 'set_up', 'remove_passkey', 'remove_app', 'renew_codes'].map(
      (each) => `factor.${each}`,
    ),
  )
})

t.test('a recovery code helps who has lost the only passkey, and a reset removes it', async (t) => {
  const { wish, id, recoveryCodes } = await withPasskey()
  const { page, agent, act } = await browserOf(wish)
  t.equal((await agent.send(lastForm(page), { code: '123456' })).status, 422, 'there is no app')
  const list = await agent.send(lastForm(page), { code: recoveryCodes[0] ?? '' })
  t.match(list.text, /9 of them work/)
  t.ok(isSignedIn(await act(list, 'continue')))
  await harness.identity.resetFactor(wish.realm, id)
  t.same((await owner.query('select 1 from idp.passkeys where user_id = $1', [id])).rows, [])
  t.match((await browserOf(wish)).page.text, /Set up a second factor/)
})

/** The page from its last form on, which is that of the code. */
function lastForm(page: Page): Page {
  return { ...page, text: page.text.slice(page.text.lastIndexOf('<form')) }
}
