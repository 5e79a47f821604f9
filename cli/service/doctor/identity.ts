import { z } from 'zod'
import { CUSTOMERS_REALM, PLATFORM_REALM, issuerOf } from '../../../src/lib/realms.ts'
import { finding, ok, skipped } from './check.ts'
import type { Check } from './check.ts'
import { probe } from './probe.ts'
import type { Probed } from './probe.ts'
import type { DoctorTarget } from './target.ts'
import { fromEnvironment, fromService } from './subject.ts'
import type { Subject } from './subject.ts'
import { runCheck, reasonOf, within } from './timed.ts'

const SKEW_MAX_MS = 5_000

const Discovery = z.object({ issuer: z.string() })
const KeySet = z.object({ keys: z.array(z.object({ alg: z.string().optional(), use: z.string().optional() })) })

/** By Keycloak's own tool: nobody can sign in to a realm where there is no such key. */
function addKey(realm: string): string {
  return `kcadm.sh create components -r ${realm} -s name=ps256 -s providerId=rsa-generated -s providerType=org.keycloak.keys.KeyProvider -s 'config.priority=["200"]' -s 'config.algorithm=["PS256"]'`
}

/** The identity provider of whatever is looked over. */
export async function checkProvider(target: DoctorTarget): Promise<Check[]> {
  const { url, by, config, context } = target
  const check = 'provider'
  try {
    if (by === 'environment' && config !== undefined)
      return await fromEnvironment(context.io.env, (subject) => checkIdentity(subject))
    if (by === 'environment' || url === undefined) return [skipped(check, 'no service says which there is')]
    return await checkIdentity(await within(fromService(target, url)))
  } catch (error) {
    return [skipped(check, reasonOf(error))]
  }
}

/** Looks over the identity provider of a service: each check is one line. Nothing is changed. */
async function checkIdentity(subject: Subject): Promise<Check[]> {
  const { authUrl, kind } = subject
  const registrations = runCheck('registrations', () => checkRegistrations(subject))
  if (authUrl === null) return [checkNone(subject), await registrations]
  const discovery = probe(`${issuerOf(authUrl, PLATFORM_REALM)}/.well-known/openid-configuration`)
  return [
    ok('provider', `${kind}, realms at ${authUrl}/realms/<realm>`),
    ...(await Promise.all([
      runCheck('health', () => checkRights(subject)),
      runCheck('discovery', async () => checkDiscovery(subject, authUrl, await discovery)),
      runCheck('keys', () => checkKeys(subject, authUrl, { check: 'keys', realm: PLATFORM_REALM })),
      runCheck('customer keys', () => checkKeys(subject, authUrl, { check: 'customer keys', realm: CUSTOMERS_REALM })),
      runCheck('clock', async () => checkClock(subject, authUrl, await discovery)),
      runCheck('tls', () => checkTls(subject, authUrl)),
      registrations,
    ])),
  ]
}

function checkNone({ mode }: Subject): Check {
  const text = 'none: headers say who calls'
  return mode === 'live' ? finding('provider', text, 'unset SVC_IDENTITY') : ok('provider', text)
}

async function checkRights(subject: Subject): Promise<Check> {
  const problem = await subject.health()
  if (problem === null) return ok('health', subject.kind === 'keycloak' ? 'it answers, and lets us in' : 'it is well')
  const fix = subject.kind === 'keycloak' ? 'sh examples/keycloak/set-up.sh' : 'svc status'
  return finding('health', problem, fix)
}

function checkDiscovery(subject: Subject, authUrl: string, probed: Probed): Check {
  const expected = issuerOf(authUrl, PLATFORM_REALM)
  if (probed.status === undefined) return finding('discovery', probed.why, whenAway(subject, authUrl))
  if (probed.status === 404)
    return finding(
      'discovery',
      `there is no realm ${PLATFORM_REALM} yet`,
      'svc staff bootstrap --email <address of the first OWNER>',
    )
  const { data } = Discovery.safeParse(probed.json)
  if (probed.status !== 200 || data === undefined)
    return finding('discovery', `it answered ${probed.status}, and no discovery document`, whenAway(subject, authUrl))
  if (data.issuer === expected) return ok('discovery', `the issuer is ${expected}`)
  const base = data.issuer.replace(new RegExp(`/realms/${PLATFORM_REALM}$`), '')
  return finding(
    'discovery',
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
async function checkKeys(
  { kind }: Subject,
  authUrl: string,
  { check, realm }: { check: string; realm: string },
): Promise<Check> {
  const probed = await probe(`${issuerOf(authUrl, realm)}/protocol/openid-connect/certs`)
  const data = probed.status === 200 ? KeySet.safeParse(probed.json).data : undefined
  if (data === undefined) return skipped(check, `realm ${realm} gives no keys to look at`)
  if (data.keys.some(({ alg, use }) => alg === 'PS256' && use !== 'enc'))
    return ok(check, `realm ${realm} has a PS256 key`)
  return finding(
    check,
    `realm ${realm} has no PS256 key: its tokens are refused`,
    kind === 'keycloak' ? addKey(realm) : `svc staff rotate-keys ${realm} --reason "no PS256 key"`,
  )
}

/** By the Date of its answers; by a token where they have none. */
async function checkClock(subject: Subject, authUrl: string, discovery: Probed): Promise<Check> {
  if (discovery.status === undefined) return skipped('clock', 'nothing answers')
  const aheadMs = discovery.aheadMs ?? (await aheadOfToken(subject, authUrl))
  if (aheadMs === undefined)
    return skipped('clock', 'it does not say what time it is, and no client is known to ask by')
  if (Math.abs(aheadMs) <= SKEW_MAX_MS) return ok('clock', 'within 5 seconds of ours')
  const seconds = Math.round(Math.abs(aheadMs) / 1000)
  return finding(
    'clock',
    `it is ${seconds} s ${aheadMs > 0 ? 'ahead of' : 'behind'} ours: tokens are refused too early, or taken too late`,
    'timedatectl set-ntp true',
  )
}

async function aheadOfToken({ client }: Subject, authUrl: string): Promise<number | undefined> {
  if (client === null) return undefined
  const form = { grant_type: 'client_credentials', client_id: client.clientId, client_secret: client.clientSecret }
  const probed = await probe(`${issuerOf(authUrl, client.realm)}/protocol/openid-connect/token`, form)
  return probed.status === undefined ? undefined : probed.aheadMs
}

/** Secrets and tokens travel there (decision 62). */
function checkTls({ mode, publicUrl }: Subject, authUrl: string): Check {
  if (authUrl.startsWith('https:')) return ok('tls', 'tokens travel encrypted')
  if (mode === 'live' || publicUrl.startsWith('https:'))
    return finding(
      'tls',
      `${authUrl} has no encryption, and the service is open to the internet`,
      `export SVC_AUTH_URL=${authUrl.replace(/^http:/, 'https:')}`,
    )
  return ok('tls', 'no encryption, and none is asked for: a sandbox without https')
}

async function checkRegistrations(subject: Subject): Promise<Check> {
  const found = (await subject.troubled()).filter(({ problems }) => problems.length > 0)
  const [first] = found
  if (first === undefined) return ok('registrations', 'none needs a hand')
  const more = found.length === 1 ? '' : `, and ${found.length - 1} more`
  return finding(
    'registrations',
    `${first.slug}: ${first.problems.join('; ')}${more}`,
    `svc merchants repair ${first.slug}`,
  )
}
