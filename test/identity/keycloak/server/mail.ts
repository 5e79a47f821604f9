import t from 'tap'
import { tryPassword, isSignedIn, acceptInvitation } from '../../../support/login-pages.ts'
import { CALLBACK, atPortal, realmSpec, signIn } from '../../../support/identity.ts'
import type { TestRealm } from '../../../support/identity.ts'
import { keycloakHarness, mailsTo } from '../../../support/keycloak.ts'
import { clientIdsOf } from '../../../../src/lib/realms.ts'
import { smtpSink } from '../../../support/smtp-sink.ts'
import { UserAgent, formsOf } from '../../../support/user-agent.ts'

const NEW_PASSWORD = 'the tide comes in twice a day'

/** A realm whose administrator was not invited yet. */
async function freshRealm({ identity }: Awaited<ReturnType<typeof keycloakHarness>>): Promise<TestRealm> {
  const spec = realmSpec()
  const { adminUserId } = await identity.createRealm(spec)
  const { portal, cli } = clientIdsOf(spec.slug)
  return {
    slug: spec.slug,
    registrationId: spec.registrationId,
    portal,
    cli,
    server: { clientId: '', secret: '' },
    admin: { id: adminUserId ?? '', email: spec.admin?.email ?? '' },
  }
}

t.test('the invitation of a new administrator arrives, and its link leads to the portal', async (t) => {
  const harness = await keycloakHarness(t)
  const realm = await freshRealm(harness)
  const sent = await harness.identity.inviteUser(realm.slug, realm.admin.id, {
    clientId: realm.portal,
    redirectUri: CALLBACK,
    lifespanSeconds: 600,
    deliver: 'mail',
    merchantId: null,
  })
  t.equal(sent, null)
  t.equal(harness.sink.received[0]?.from, 'no-reply@svc.example')
  t.match(harness.sink.received[0]?.text, /^From: svc <no-reply@svc\.example>/m)
  const [mail = ''] = mailsTo(harness.sink, realm.admin.email)
  const link = /https?:\S+/.exec(mail)?.[0] ?? ''
  t.match(link, `${harness.authUrl}/realms/${realm.slug}/`)
  const last = await acceptInvitation(harness.authUrl, link, NEW_PASSWORD)
  t.match(last.text, CALLBACK.replaceAll('&', '&amp;'), 'the last page leads on to where the invitation said')
  const { claims } = await signIn({ ...atPortal(harness, realm), password: NEW_PASSWORD })
  t.equal(claims.sub, realm.admin.id)
})

t.test('an invitation by link is a mail too, because Keycloak never returns its links', async (t) => {
  const harness = await keycloakHarness(t)
  const realm = await freshRealm(harness)
  const link = await harness.identity.inviteUser(realm.slug, realm.admin.id, {
    clientId: realm.portal,
    lifespanSeconds: 600,
    deliver: 'link',
    merchantId: null,
  })
  t.equal(link, null)
  t.equal(mailsTo(harness.sink, realm.admin.email).length, 1)
})

t.test('a realm created before the mail server moved uses the new one', async (t) => {
  const before = await keycloakHarness(t)
  const realm = await freshRealm(before)
  const after = await keycloakHarness(t)
  await after.identity.inviteUser(realm.slug, realm.admin.id, {
    clientId: realm.portal,
    lifespanSeconds: 600,
    deliver: 'mail',
    merchantId: null,
  })
  t.equal(mailsTo(before.sink, realm.admin.email).length, 0)
  t.equal(mailsTo(after.sink, realm.admin.email).length, 1)
})

t.test('a rejecting mail server is reported without its password, and the next attempt works', async (t) => {
  const harness = await keycloakHarness(t)
  const realm = await freshRealm(harness)
  const invitation = { clientId: realm.portal, lifespanSeconds: 600, deliver: 'mail', merchantId: null } as const
  harness.sink.refuse(550)
  const refused = harness.identity.inviteUser(realm.slug, realm.admin.id, invitation)
  await t.rejects(refused, { name: 'IdentityUnavailableError', message: /could not send an invitation: it responded/ })
  harness.sink.refuse(undefined)
  await harness.identity.inviteUser(realm.slug, realm.admin.id, invitation)
  t.equal(mailsTo(harness.sink, realm.admin.email).length, 1)
})

t.test('a known address gets a mail to reset the password, an unknown one none, with the same response', async (t) => {
  const harness = await keycloakHarness(t)
  const realm = await freshRealm(harness)
  await harness.identity.setPassword(realm.slug, realm.admin.id, 'a password that nobody guesses')
  const ask = async (email: string): Promise<string> => {
    const agent = new UserAgent(harness.authUrl)
    const page = await agent.open(
      `${harness.authUrl}/realms/${realm.slug}/login-actions/reset-credentials?client_id=${realm.portal}`,
    )
    const [field = 'username'] = formsOf(page.text)[0]?.fields.map(([name]) => name) ?? []
    const sent = await agent.send(page, { [field]: email })
    return /You should receive an email[^<]*/.exec(sent.text)?.[0] ?? sent.text
  }
  t.equal(await ask(realm.admin.email), await ask('nobody@elsewhere.example'))
  t.equal(harness.sink.received.length, 1)
  const [mail = ''] = mailsTo(harness.sink, realm.admin.email)
  await acceptInvitation(harness.authUrl, /https?:\S+/.exec(mail)?.[0] ?? '', NEW_PASSWORD)
  t.ok(isSignedIn(await tryPassword(atPortal(harness, realm), NEW_PASSWORD)))
})

t.test('a login to the mail server is used', async (t) => {
  const logins: string[] = []
  const sink = await smtpSink(t, {
    authOptional: false,
    disabledCommands: ['STARTTLS'],
    allowInsecureAuth: true,
    onAuth: ({ username = '', password = '' }, _session, done) => {
      logins.push(`${username} ${password}`)
      done(null, { user: username })
    },
  })
  const { host } = new URL(sink.url)
  const harness = await keycloakHarness(t, { smtpUrl: `smtp://us%40er:p%3Ass@${host}` })
  const realm = await freshRealm(harness)
  await harness.identity.inviteUser(realm.slug, realm.admin.id, {
    clientId: realm.portal,
    lifespanSeconds: 600,
    deliver: 'mail',
    merchantId: null,
  })
  t.same(logins, ['us@er p:ss'])
  t.equal(mailsTo(sink, realm.admin.email).length, 1)
})
