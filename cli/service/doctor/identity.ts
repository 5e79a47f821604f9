import { z } from 'zod'
import type { App } from '../../../src/app.ts'
import { CUSTOMERS_REALM, PLATFORM_REALM, issuerOf } from '../../../src/lib/realms.ts'
import { listRegistrations } from '../../../src/wire/registration.ts'
import { getService } from '../../../src/wire/service.ts'
import type { ServiceInfo } from '../../../src/wire/service.ts'
import { noCredentials } from '../../client/auth/credentials.ts'
import { call } from '../../client/call.ts'
import { runningState } from '../../client/find-service.ts'
import type { Context } from '../../kit/context.ts'
import { openApp } from '../up/part.ts'
import { clockVerdict, finding, ok, reasonOf, runCheck, skipped, within } from './check.ts'
import type { Check, Verdict } from './check.ts'
import { probe } from './probe.ts'
import type { Probed } from './probe.ts'
import type { DoctorTarget } from './target.ts'

const Discovery = z.object({ issuer: z.string() })
const KeySet = z.object({ keys: z.array(z.object({ alg: z.string().optional(), use: z.string().optional() })) })

/** By Keycloak's own tool: nobody can sign in to a realm where there is no such key. */
function addKey(realm: string): string {
  return `kcadm.sh create components -r ${realm} -s name=ps256 -s providerId=rsa-generated -s providerType=org.keycloak.keys.KeyProvider -s 'config.priority=["200"]' -s 'config.algorithm=["PS256"]'`
}

/** The identity provider of whatever is looked over. */
export async function checkProvider(target: DoctorTarget): Promise<Check[]> {
  const { url, by, config, context } = target
  try {
    if (by === 'environment' && config !== undefined)
      return await fromEnvironment(context.io.env, (subject) => checkIdentity(subject))
    if (by === 'environment' || url === undefined)
      return [{ check: 'provider', ...skipped('no service says which there is') }]
    return await checkIdentity(await within(fromService(target, url)))
  } catch (error) {
    return [{ check: 'provider', ...skipped(reasonOf(error)) }]
  }
}

/** Looks over the identity provider of a service: each check is one line. Nothing is changed. */
async function checkIdentity(subject: Subject): Promise<Check[]> {
  const { authUrl, kind } = subject
  const registrations = runCheck('registrations', () => checkRegistrations(subject))
  if (authUrl === null) return [{ check: 'provider', ...checkNone(subject) }, await registrations]
  const discovery = probe(`${issuerOf(authUrl, PLATFORM_REALM)}/.well-known/openid-configuration`)
  return [
    { check: 'provider', ...ok(`${kind}, realms at ${authUrl}/realms/<realm>`) },
    ...(await Promise.all([
      runCheck('health', () => checkRights(subject)),
      runCheck('discovery', async () => checkDiscovery(subject, authUrl, await discovery)),
      runCheck('keys', () => checkKeys(subject, authUrl, PLATFORM_REALM)),
      runCheck('customer keys', () => checkKeys(subject, authUrl, CUSTOMERS_REALM)),
      runCheck('clock', async () => checkClock(subject, authUrl, await discovery)),
      runCheck('tls', () => checkTls(subject, authUrl)),
      registrations,
    ])),
  ]
}

function checkNone({ mode }: Subject): Verdict {
  const text = 'none: headers say who calls'
  return mode === 'live' ? finding(text, 'unset SVC_IDENTITY') : ok(text)
}

async function checkRights(subject: Subject): Promise<Verdict> {
  const problem = await subject.health()
  if (problem === null) return ok(subject.kind === 'keycloak' ? 'it answers, and lets us in' : 'it is well')
  const fix = subject.kind === 'keycloak' ? 'sh examples/keycloak/set-up.sh' : 'svc status'
  return finding(problem, fix)
}

function checkDiscovery(subject: Subject, authUrl: string, probed: Probed): Verdict {
  const expected = issuerOf(authUrl, PLATFORM_REALM)
  if (probed.status === undefined) return finding(probed.why, whenAway(subject, authUrl))
  if (probed.status === 404)
    return finding(
      `there is no realm ${PLATFORM_REALM} yet`,
      'svc staff bootstrap --email <address of the first OWNER>',
    )
  const { data } = Discovery.safeParse(probed.json)
  if (probed.status !== 200 || data === undefined)
    return finding(`it answered ${probed.status}, and no discovery document`, whenAway(subject, authUrl))
  if (data.issuer === expected) return ok(`the issuer is ${expected}`)
  const base = data.issuer.replace(new RegExp(`/realms/${PLATFORM_REALM}$`), '')
  return finding(
    `tokens name the issuer ${data.issuer}, and ${expected} is expected: every one is refused`,
    subject.kind === 'keycloak' ? `export SVC_AUTH_URL=${base}` : `export SVC_PUBLIC_URL=${base}`,
  )
}

/** Who is away: Keycloak, or the service that brings the provider. */
function whenAway({ kind, isRunning }: Subject, authUrl: string): string {
  if (kind === 'keycloak') return `curl -i ${authUrl}/realms/master`
  return isRunning ? `curl -i ${authUrl}/readyz` : 'svc serve'
}

/** Tokens are signed with PS256 (decision 43). */
async function checkKeys({ kind }: Subject, authUrl: string, realm: string): Promise<Verdict> {
  const probed = await probe(`${issuerOf(authUrl, realm)}/protocol/openid-connect/certs`)
  const data = probed.status === 200 ? KeySet.safeParse(probed.json).data : undefined
  if (data === undefined) return skipped(`realm ${realm} gives no keys to look at`)
  if (data.keys.some(({ alg, use }) => alg === 'PS256' && use !== 'enc')) return ok(`realm ${realm} has a PS256 key`)
  return finding(
    `realm ${realm} has no PS256 key: its tokens are refused`,
    kind === 'keycloak' ? addKey(realm) : `svc staff rotate-keys ${realm} --reason "no PS256 key"`,
  )
}

/** By the Date of its answers; by a token where they have none. */
async function checkClock(subject: Subject, authUrl: string, discovery: Probed): Promise<Verdict> {
  if (discovery.status === undefined) return skipped('nothing answers')
  const aheadMs = discovery.aheadMs ?? (await aheadOfToken(subject, authUrl))
  if (aheadMs === undefined) return skipped('it does not say what time it is, and no client is known to ask by')
  return clockVerdict(aheadMs, 'ours', ': tokens are refused too early, or taken too late')
}

async function aheadOfToken({ client }: Subject, authUrl: string): Promise<number | undefined> {
  if (client === null) return undefined
  const form = { grant_type: 'client_credentials', client_id: client.clientId, client_secret: client.clientSecret }
  const probed = await probe(`${issuerOf(authUrl, client.realm)}/protocol/openid-connect/token`, form)
  return probed.status === undefined ? undefined : probed.aheadMs
}

/** Secrets and tokens travel there (decision 62). */
function checkTls({ mode, publicUrl }: Subject, authUrl: string): Verdict {
  if (authUrl.startsWith('https:')) return ok('tokens travel encrypted')
  if (mode === 'live' || publicUrl.startsWith('https:'))
    return finding(
      `${authUrl} has no encryption, and the service is open to the internet`,
      `export SVC_AUTH_URL=${authUrl.replace(/^http:/, 'https:')}`,
    )
  return ok('no encryption, and none is asked for: a sandbox without https')
}

async function checkRegistrations(subject: Subject): Promise<Verdict> {
  const found = (await subject.troubled()).filter(({ problems }) => problems.length > 0)
  const [first] = found
  if (first === undefined) return ok('none needs a hand')
  const more = found.length === 1 ? '' : `, and ${found.length - 1} more`
  return finding(`${first.slug}: ${first.problems.join('; ')}${more}`, `svc merchants repair ${first.slug}`)
}

type Registration = { slug: string; problems: string[] }

/** What is looked over: a service that runs, or one that the environment configures. */
type Subject = {
  kind: ServiceInfo['identity']
  mode: ServiceInfo['mode']
  /** Where realms are, as configured; null without a provider. */
  authUrl: string | null
  publicUrl: string
  isRunning: boolean
  /** A client whose tokens tell what time it is there; null where none is known. */
  client: { realm: string; clientId: string; clientSecret: string } | null
  /** What is wrong with the provider's health, the service's rights there among it; null where nothing is. */
  health(): Promise<string | null>
  /** Registrations that need a hand. @throws where they can't be read */
  troubled(): Promise<readonly Registration[]>
}

/** A service that runs: what it says of itself, and of its provider. @throws {CliError} where it does not answer */
async function fromService(
  { context, client }: Pick<DoctorTarget, 'context' | 'client'>,
  apiUrl: string,
): Promise<Subject> {
  const open = { ...context.http(), apiUrl, credentials: noCredentials(), close: () => Promise.resolve() }
  const { body: info } = await call(open, getService, {})
  return {
    kind: info.identity,
    mode: info.mode,
    authUrl: info.auth_url?.replace(/\/+$/, '') ?? null,
    publicUrl: apiUrl,
    isRunning: true,
    client: operatorOf(context, apiUrl),
    health: async () => {
      const ready = await probe(`${apiUrl}/readyz`)
      if (ready.status === undefined) return `the service did not say whether it is well: ${ready.why}`
      return isAway(ready.json) ? 'the service does not reach it, or is not let in: its log tells which' : null
    },
    troubled: async () => {
      const { body } = await call(client(), listRegistrations, {})
      return body.data
    },
  }
}

/** The demo operator of the service in the state directory, where that is the one that is looked over. */
function operatorOf({ stateDir }: Context, apiUrl: string): Subject['client'] {
  const state = runningState(stateDir)
  if (state?.api_url !== apiUrl || state.operator === null) return null
  const { realm, client_id: clientId, client_secret: clientSecret } = state.operator
  return { realm, clientId, clientSecret }
}

function isAway(json: unknown): boolean {
  return typeof json === 'object' && json !== null && 'identity' in json && json.identity === 'away'
}

/** What the environment configures, with the database that it names. @throws {CliError} where that can't be opened */
async function fromEnvironment<T>(env: NodeJS.ProcessEnv, runCheck: (subject: Subject) => Promise<T>): Promise<T> {
  const opening = openApp({ ...env, SVC_LOG_LEVEL: 'silent' })
  const { app } = await within(opening).catch((error: unknown) => {
    // One that opens after all, when nobody looks at it any more.
    void opening.then((late) => late.app.close()).catch(() => undefined)
    throw error
  })
  try {
    return await runCheck(subjectOf(app))
  } finally {
    await within(app.close(), CLOSING_MS).catch(() => undefined)
  }
}

const CLOSING_MS = 1_500

function subjectOf(app: App): Subject {
  const { identity, config, publicUrl } = app
  return {
    kind: identity.kind,
    mode: config.mode,
    authUrl: identity.authUrl,
    publicUrl,
    isRunning: false,
    client: config.keycloak === undefined ? null : { realm: 'master', ...config.keycloak },
    health: () =>
      identity.health().then(
        () => null,
        (error: unknown) => (error instanceof Error ? error.message : String(error)),
      ),
    troubled: async () => {
      const { listRegistrations: list } = await import('../../../src/registrations/list-registrations.ts')
      const { registrations } = await list(app)
      return registrations.map(({ registration, problems }) => ({ slug: registration.slug, problems }))
    },
  }
}
