import { clientIdsOf } from '../../src/lib/realms.ts'
import { MERCHANT_ROLES } from '../../src/lib/permissions.ts'
import { insertMerchant } from '../../src/merchants/sql.ts'
import { generateWebhookSecret, webhookSecretContext } from '../../src/signing/secret.ts'
import type { TestMerchant, TestService } from './app.ts'
import { CALLBACK, PASSWORD, PORTAL, signIn } from './identity.ts'
import type { Tokens } from './identity.ts'
import { UserAgent } from './user-agent.ts'

/** A merchant whose people can sign in: its realm has a portal and a command line too. */
export async function merchantWithPortal({ app }: TestService): Promise<TestMerchant> {
  const id = app.ids.uuid()
  const realm = `p-${id.slice(-8)}`
  const { portal, server, cli } = clientIdsOf(realm)
  const secret = generateWebhookSecret()
  const clientSecret = app.ids.token()
  await insertMerchant(app.pool, {
    id,
    clientId: server,
    legalName: 'Acme Ltd',
    tradingName: 'Acme',
    kybStatus: 'APPROVED',
    feePercentage: '0.0100',
    feeFlat: '0.20',
    webhookUrl: null,
    realmSlug: realm,
    webhookSigningSecret: app.sealer.seal(secret, webhookSecretContext(id)),
    serverRole: 'ADMIN',
    createdBy: 'test',
  })
  await app.identity.createRealm({
    slug: realm,
    kind: 'merchant',
    displayName: 'Acme Ltd',
    registrationId: id,
    portal: { clientId: portal, redirectUris: [CALLBACK], postLogoutRedirectUris: [PORTAL], webOrigins: [PORTAL] },
    service: { clientId: server, secret: clientSecret, roles: ['ADMIN'] },
    cli: { clientId: cli },
    roles: MERCHANT_ROLES,
  })
  return { id, clientId: server, clientSecret, realm, secret }
}

/** Takes the newest invitation that was mailed to this address: opens its link and sets the password. */
export async function takeInvitation(service: TestService, email: string, password: string = PASSWORD): Promise<void> {
  const headers = await service.operator()
  const mails = await service.call('GET', `/api/v1/sandbox/mails?recipient=${encodeURIComponent(email)}`, { headers })
  const mail = await service.call('GET', `/api/v1/sandbox/mails/${mails.body.data[0].id}`, { headers })
  const agent = new UserAgent(service.url)
  const page = await agent.open(mail.body.links[0])
  const after = await agent.send(page, { password, repeated: password })
  if (after.status !== 200) throw new Error(`the invitation was not taken: ${after.status} ${after.text.slice(0, 500)}`)
}

/** Tokens of a person who signs in at the merchant's portal. */
export async function portalTokens(service: TestService, realm: string, email: string): Promise<Tokens> {
  const { tokens } = await signIn({ authUrl: service.url, realm, clientId: clientIdsOf(realm).portal, email })
  return tokens
}
