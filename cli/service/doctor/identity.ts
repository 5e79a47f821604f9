import { z } from 'zod'
import { CUSTOMERS_REALM, PLATFORM_REALM, issuerOf } from '../../../src/lib/realms.ts'
import { probe } from '../probe.ts'
import type { Probed } from '../probe.ts'
import { clockVerdict, finding, ok, reasonOf, runChecks, skipped, within } from './check.ts'
import type { Check, Verdict } from './check.ts'
import type { DoctorTarget, Subject } from './target.ts'

export async function checkIdentity(target: DoctorTarget): Promise<Check[]> {
  const subject = await within(target.subject()).catch(reasonOf)
  if (typeof subject === 'string') return runChecks({ provider: () => skipped(subject) })
  const { authUrl, identity } = subject
  const registrations = { registrations: () => registrationsCheck(subject) }
  if (authUrl === null) return runChecks({ provider: () => noneCheck(subject), ...registrations })
  const discovery = probe(`${issuerOf(authUrl, PLATFORM_REALM)}/.well-known/openid-configuration`)
  return runChecks({
    provider: () => ok(`${identity}, realms at ${authUrl}/realms/<realm>`),
    health: () => healthCheck(subject),
    discovery: async () => discoveryCheck(subject, authUrl, await discovery),
    keys: () => keysCheck(subject, authUrl, PLATFORM_REALM),
    'customer keys': () => keysCheck(subject, authUrl, CUSTOMERS_REALM),
    clock: async () => clockCheck(subject, authUrl, await discovery),
    tls: () => tlsCheck(subject, authUrl),
    ...registrations,
  })
}

function noneCheck({ mode }: Subject): Verdict {
  const text = 'none: headers say who calls'
  return mode === 'live' ? finding(text, 'unset SVC_IDENTITY') : ok(text)
}

async function healthCheck({ identity, identityProblem }: Subject): Promise<Verdict> {
  const problem = await identityProblem()
  if (problem === null) return ok('healthy')
  return finding(problem, identity === 'keycloak' ? 'sh examples/keycloak/set-up.sh' : 'svc status')
}

const Discovery = z.object({ issuer: z.string() })

function discoveryCheck(subject: Subject, authUrl: string, probed: Probed): Verdict {
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
    `tokens name the issuer ${data.issuer}, and ${expected} is expected: every one is rejected`,
    subject.identity === 'keycloak' ? `export SVC_AUTH_URL=${base}` : `export SVC_PUBLIC_URL=${base}`,
  )
}

/** Who is away: Keycloak, or the service that brings the provider. */
function whenAway({ identity, isRunning }: Subject, authUrl: string): string {
  if (identity === 'keycloak') return `curl -i ${authUrl}/realms/master`
  return isRunning ? `curl -i ${authUrl}/readyz` : 'svc serve'
}

const KeySet = z.object({ keys: z.array(z.object({ alg: z.string().optional(), use: z.string().optional() })) })

/** Tokens are signed with PS256 (decision 43). */
async function keysCheck({ identity }: Subject, authUrl: string, realm: string): Promise<Verdict> {
  const probed = await probe(`${issuerOf(authUrl, realm)}/protocol/openid-connect/certs`)
  const data = probed.status === 200 ? KeySet.safeParse(probed.json).data : undefined
  if (data === undefined) return skipped(`realm ${realm} publishes no keys`)
  if (data.keys.some(({ alg, use }) => alg === 'PS256' && use !== 'enc')) return ok(`realm ${realm} has a PS256 key`)
  return finding(
    `realm ${realm} has no PS256 key: its tokens are rejected`,
    identity === 'keycloak' ? addKey(realm) : `svc staff rotate-keys ${realm} --reason "no PS256 key"`,
  )
}

function addKey(realm: string): string {
  return `kcadm.sh create components -r ${realm} -s name=ps256 -s providerId=rsa-generated -s providerType=org.keycloak.keys.KeyProvider -s 'config.priority=["200"]' -s 'config.algorithm=["PS256"]'`
}

/** By the Date of its answers; by a token where they have none. */
async function clockCheck(subject: Subject, authUrl: string, discovery: Probed): Promise<Verdict> {
  if (discovery.status === undefined) return skipped('nothing answers')
  const aheadMs = discovery.aheadMs ?? (await aheadOfToken(subject, authUrl))
  if (aheadMs === undefined) return skipped('it does not say what time it is, and no client is known to ask by')
  return clockVerdict(aheadMs, ': tokens are rejected too early, or accepted too late')
}

async function aheadOfToken({ client }: Subject, authUrl: string): Promise<number | undefined> {
  if (client === null) return undefined
  const form = { grant_type: 'client_credentials', client_id: client.clientId, client_secret: client.clientSecret }
  const probed = await probe(`${issuerOf(authUrl, client.realm)}/protocol/openid-connect/token`, form)
  return probed.status === undefined ? undefined : probed.aheadMs
}

/** Secrets and tokens travel there (decision 62). */
function tlsCheck({ mode, publicUrl }: Subject, authUrl: string): Verdict {
  if (authUrl.startsWith('https:')) return ok('tokens travel encrypted')
  if (mode === 'live' || publicUrl.startsWith('https:'))
    return finding(
      `${authUrl} has no encryption, and the service is open to the internet`,
      `export SVC_AUTH_URL=${authUrl.replace(/^http:/, 'https:')}`,
    )
  return ok('not needed: a sandbox without https')
}

async function registrationsCheck({ registrations }: Subject): Promise<Verdict> {
  const [first, ...others] = (await registrations()).filter(({ problems }) => problems.length > 0)
  if (first === undefined) return ok('none needs attention')
  const more = others.length === 0 ? '' : `, and ${others.length} more`
  return finding(`${first.slug}: ${first.problems.join('; ')}${more}`, `svc merchants repair ${first.slug}`)
}
