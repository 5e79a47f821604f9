import { createHash, randomBytes, randomUUID } from 'node:crypto'
import { decodeJwt } from 'jose'
import type { JWTPayload } from 'jose'
import { request } from 'undici'
import type { Test } from 'tap'
import { startApi } from '../../src/api.ts'
import { makeApp } from '../../src/app.ts'
import type { App } from '../../src/app.ts'
import { freePort } from './free-port.ts'
import type { IdentityProvider, RealmSpec } from '../../src/identity/provider.ts'
import { clientIdsOf } from '../../src/lib/realms.ts'
import { mailBodyContext, recipientHash } from '../../src/mail/seal-context.ts'
import { testService } from './app.ts'
import type { TestService } from './app.ts'
import { keycloakHarness } from './keycloak.ts'
import { UserAgent, asksForPassword, formsOf } from './user-agent.ts'
import type { Page } from './user-agent.ts'

/** A provider under the tests of the contract of identity providers. */
export type IdentityHarness = {
  identity: IdentityProvider
  authUrl: string
  /** Another process of the provider, on the same books. */
  otherUrl: string
  /** Ends the process behind `otherUrl`, and starts another on the same books, maybe elsewhere. */
  restart(): Promise<void>
  /** The text of every mail that was sent to this address, the oldest first. */
  mailsTo(address: string): Promise<string[]>
}

/** `mail: 'away'`: no mail server answers. */
export type HarnessOptions = { mail?: 'away'; env?: Record<string, string> }

/** The provider under test. Everything that depends on the kind of provider is here. */
export function identityHarness(t: Test, options: HarnessOptions = {}): Promise<IdentityHarness> {
  return process.env['SVC_TEST_PROVIDER'] === 'keycloak' ? keycloakHarness(t, options) : embeddedHarness(t, options)
}

/** The embedded provider, as two processes would run it: two apps on one database. */
export async function embeddedHarness(
  t: Test,
  { mail, env = {} }: HarnessOptions = {},
): Promise<IdentityHarness & { service: TestService; app: App }> {
  const mailEnv = mail === 'away' ? { SVC_SMTP_URL: 'smtp://127.0.0.1:1' } : {}
  const service = await testService(t, { env: { SVC_IDENTITY: 'embedded', ...mailEnv, ...env } })
  const { app } = service
  let other = await startOther(app)
  t.teardown(() => other.stop())
  return {
    service,
    app,
    identity: app.identity,
    authUrl: app.publicUrl,
    get otherUrl() {
      return other.url
    },
    restart: async () => {
      await other.stop()
      other = await startOther(app)
    },
    mailsTo: async (address) => {
      const { rows } = await service.owner.query<{ id: string; merchant_id: string | null; body: string }>(
        'select id, merchant_id, body from mails where recipient_hash = $1 order by created_at, id',
        [await recipientHash(app, address)],
      )
      return rows.map(({ id, merchant_id, body }) =>
        app.sealer.open(body, mailBodyContext({ id, merchantId: merchant_id })),
      )
    },
  }
}

/** Another process of the same service: its own connections and caches, the same database and public address. */
async function startOther(app: App): Promise<{ url: string; stop(): Promise<void> }> {
  const other = await makeApp({ ...app.config, port: await freePort(), publicUrl: app.publicUrl })
  const api = await startApi(other)
  return {
    url: api.url,
    stop: async () => {
      await api.stop()
      await other.close()
    },
  }
}

export const PASSWORD = 'a password that nobody guesses'
/** Where a portal's people come back to; nothing listens there. */
export const PORTAL = 'https://portal.example'
export const CALLBACK = `${PORTAL}/callback`

export type TestRealm = {
  slug: string
  registrationId: string
  portal: string
  cli: string
  server: { clientId: string; secret: string }
  admin: { id: string; email: string }
}

/** A merchant's realm as registration makes it, whose administrator has a password. */
export async function makeRealm(
  { identity }: Pick<IdentityHarness, 'identity'>,
  changes: Partial<RealmSpec> = {},
): Promise<TestRealm> {
  const spec = realmSpec(changes)
  const made = await identity.createRealm(spec)
  const id = made.adminUserId ?? ''
  await identity.setPassword(spec.slug, id, PASSWORD)
  const { portal, cli } = clientIdsOf(spec.slug)
  return {
    slug: spec.slug,
    registrationId: spec.registrationId,
    portal,
    cli,
    server: { clientId: spec.service?.clientId ?? '', secret: spec.service?.secret ?? '' },
    admin: { id, email: spec.admin?.email ?? '' },
  }
}

export function realmSpec(changes: Partial<RealmSpec> = {}): RealmSpec {
  const slug = changes.slug ?? `r-${randomUUID().slice(0, 8)}`
  const { portal, server, cli } = clientIdsOf(slug)
  return {
    slug,
    kind: 'merchant',
    displayName: 'Acme Ltd',
    registrationId: randomUUID(),
    portal: {
      clientId: portal,
      redirectUris: [CALLBACK],
      postLogoutRedirectUris: [`${PORTAL}/bye`],
      webOrigins: [PORTAL],
    },
    service: { clientId: server, secret: randomBytes(32).toString('base64url'), roles: ['DEVELOPER'] },
    cli: { clientId: cli },
    roles: ['ADMIN', 'DEVELOPER', 'FINANCE'],
    admin: { email: `ada@${slug}.example`, displayName: 'Ada Admin', roles: ['ADMIN'] },
    ...changes,
  }
}

export type TokenAnswer = {
  status: number
  headers: Record<string, string | string[] | undefined>
  // What an answer of the protocol holds differs from one to the next.
  // oxlint-disable-next-line typescript/no-explicit-any
  body: any
}

/** Asks an endpoint of a realm, such as `token`, with a form. */
export async function ask(
  authUrl: string,
  realm: string,
  endpoint: string,
  form: Record<string, string>,
  headers: Record<string, string> = {},
): Promise<TokenAnswer> {
  const {
    statusCode,
    headers: answered,
    body,
  } = await request(`${authUrl}/realms/${realm}/protocol/openid-connect/${endpoint}`, {
    method: 'POST',
    headers: { 'content-type': 'application/x-www-form-urlencoded', ...headers },
    body: new URLSearchParams(form).toString(),
  })
  const text = await body.text()
  return { status: statusCode, headers: answered, body: text.startsWith('{') ? JSON.parse(text) : text }
}

export type SignInInput = {
  authUrl: string
  realm: string
  clientId: string
  email: string
  password?: string
  redirectUri?: string
  scope?: string
  /** More parameters of the authorization request; `undefined` leaves out one that is usual. */
  params?: Record<string, string | undefined>
  /** Someone who has been here before. */
  agent?: UserAgent
}

export type SignedIn = {
  agent: UserAgent
  /** Where the browser was sent at the end. */
  callback: URL
  code: string
  verifier: string
}

/** The address that signing in begins at, and the secret of its PKCE challenge. */
export function authorizationUrl(input: Omit<SignInInput, 'email'>): { url: URL; verifier: string } {
  const verifier = randomBytes(32).toString('base64url')
  const url = new URL(`${input.authUrl}/realms/${input.realm}/protocol/openid-connect/auth`)
  const params = {
    client_id: input.clientId,
    redirect_uri: input.redirectUri ?? CALLBACK,
    response_type: 'code',
    scope: input.scope ?? 'openid',
    state: randomBytes(8).toString('hex'),
    code_challenge: createHash('sha256').update(verifier).digest('base64url'),
    code_challenge_method: 'S256',
    ...input.params,
  }
  for (const [name, value] of Object.entries(params)) if (value !== undefined) url.searchParams.set(name, value)
  return { url, verifier }
}

/** Goes through all pages of a sign-in with the right password, and consents. */
export async function throughPages(
  agent: UserAgent,
  first: Page,
  { email, password }: { email: string; password: string },
) {
  let page = first
  for (let step = 0; step < 6 && page.left === undefined; step += 1) {
    const [form] = formsOf(page.text)
    if (form === undefined) return page
    if (asksForPassword(page)) {
      const name = form.fields.find(([field]) => /^(email|username)$/.test(field))?.[0] ?? 'email'
      const after = await agent.send(page, { [name]: email, password })
      // The same page again: the password was refused.
      if (asksForPassword(after)) return after
      page = after
    } else {
      const [yes] = form.buttons.filter(([field, value]) => field !== '' && !/cancel|abort|no/.test(`${field}${value}`))
      page = await agent.send(page, {}, yes)
    }
  }
  return page
}

/** Signs in over HTTP like a browser and comes back with the code. @throws when it does not get that far */
export async function signInForCode(input: SignInInput): Promise<SignedIn> {
  const agent = input.agent ?? new UserAgent(input.authUrl)
  const { url, verifier } = authorizationUrl(input)
  const page = await throughPages(agent, await agent.open(url), {
    email: input.email,
    password: input.password ?? PASSWORD,
  })
  const code = page.left?.searchParams.get('code')
  if (page.left === undefined || code == null) {
    throw new Error(`not signed in: ${page.status} ${page.left?.href ?? page.url}\n${page.text.slice(0, 2_000)}`)
  }
  return { agent, callback: page.left, code, verifier }
}

export type Tokens = {
  access_token: string
  refresh_token: string
  id_token: string
  expires_in: number
  token_type: string
  scope?: string
}

/** Exchanges what `signInForCode` brought. */
export function exchange(
  input: SignInInput,
  { code, verifier }: Pick<SignedIn, 'code' | 'verifier'>,
): Promise<TokenAnswer> {
  return ask(input.authUrl, input.realm, 'token', {
    grant_type: 'authorization_code',
    client_id: input.clientId,
    redirect_uri: input.redirectUri ?? CALLBACK,
    code,
    code_verifier: verifier,
  })
}

/** Signs in and exchanges the code: tokens as a portal or a command line has them. @throws when it gets none */
export async function signIn(input: SignInInput): Promise<{ tokens: Tokens; claims: JWTPayload; agent: UserAgent }> {
  const signedIn = await signInForCode(input)
  const { status, body } = await exchange(input, signedIn)
  if (status !== 200) throw new Error(`no tokens: ${status} ${JSON.stringify(body)}`)
  return { tokens: body, claims: decodeJwt(body.access_token), agent: signedIn.agent }
}

/** What `signIn` wants for the administrator of a realm at its portal. */
export function atPortal({ authUrl }: Pick<IdentityHarness, 'authUrl'>, realm: TestRealm): SignInInput {
  return { authUrl, realm: realm.slug, clientId: realm.portal, email: realm.admin.email }
}

export function refresh(
  authUrl: string,
  { slug, portal }: Pick<TestRealm, 'slug' | 'portal'>,
  refreshToken: string,
): Promise<TokenAnswer> {
  return ask(authUrl, slug, 'token', { grant_type: 'refresh_token', client_id: portal, refresh_token: refreshToken })
}

export function clientCredentials(
  authUrl: string,
  { slug, server }: Pick<TestRealm, 'slug' | 'server'>,
  by: 'basic' | 'post' = 'post',
): Promise<TokenAnswer> {
  const { clientId, secret } = server
  const form = { grant_type: 'client_credentials' }
  if (by === 'post') return ask(authUrl, slug, 'token', { ...form, client_id: clientId, client_secret: secret })
  const basic = Buffer.from(`${clientId}:${secret}`).toString('base64')
  return ask(authUrl, slug, 'token', form, { authorization: `Basic ${basic}` })
}
