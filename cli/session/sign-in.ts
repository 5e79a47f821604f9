import type { Context } from '../kit/context.ts'
import { CliError } from '../base/errors.ts'
import { configDirOf } from '../client/auth/config-dir.ts'
import { tokenCredentials } from '../client/auth/credentials.ts'
import type { Http } from '../client/auth/credentials.ts'
import { pendingKey, updateEntries } from '../client/auth/credentials-file.ts'
import type { Session } from '../client/auth/credentials-file.ts'
import { revoke } from '../client/auth/oidc.ts'
import { DEV, saveProfile } from '../client/auth/profiles.ts'
import type { ProfileKind } from '../client/auth/profiles.ts'
import type { Target } from './login-flow.ts'
import { fixedSource } from '../client/auth/token-source.ts'
import { whoIs } from '../client/auth/acting-side.ts'
import type { Who } from '../client/auth/acting-side.ts'

/**
 * Ends a login: asks the service who this is, keeps the session in the target's profile, and says so. What the service
 * does not accept is not kept.
 */
export async function completeSignIn(context: Context, target: Target, session: Session): Promise<void> {
  const http = context.http()
  const identity = await identityOf(http, target, session).catch(async (error: unknown) => {
    await revokeQuietly(http, session)
    throw error
  })
  const configDir = configDirOf(context.io.env)
  const kept = { session: { ...session, name: identity.name, role: identity.role }, identity }
  await updateEntries(configDir, async (entries) => {
    const { [pendingKey(target.key)]: _done, ...others } = entries
    return { ...others, [target.key]: kept.session }
  })
  keepProfile(configDir, target, kept)
  printSignIn(context, target, kept)
  for (const line of remarksOf(context, target)) context.note(line)
}

async function identityOf(http: Http, target: Target, session: Session): Promise<Who> {
  const token = { accessToken: session.access_token, expiresAt: null }
  const source = fixedSource(token, { realm: session.realm, clientId: session.client_id })
  const credentials = tokenCredentials({
    authUrl: target.authUrl,
    merchant: source,
    platform: source,
    customer: source,
  })
  const client = { ...http, apiUrl: target.apiUrl, credentials, close: () => Promise.resolve() }
  const who = await whoIs(client, target.kind === 'customer' ? ['customer'] : ['merchant', 'platform'])
  if (who.kind === target.kind) return who
  throw new CliError('UNEXPECTED_REPLY', `${target.apiUrl} takes a token of realm ${session.realm} for a ${who.kind}'s`)
}

type Kept = { session: Session; identity: Who }

function keepProfile(configDir: string, target: Target, { session, identity }: Kept): void {
  if (target.profile === DEV) return
  const profile = {
    api_url: target.apiUrl,
    auth_url: target.authUrl,
    realm: session.realm,
    client_id: session.client_id,
    kind: target.kind,
    mode: target.mode,
    role: identity.role,
    subject: identity.subject,
  }
  saveProfile(configDir, target.profile, { profile, choose: target.isNew })
}

function printSignIn(context: Context, target: Target, { session, identity }: Kept): void {
  const { profile, apiUrl: api_url, realm, kind, mode } = target
  const { name, role, subject } = identity
  const item = { profile, api_url, realm, kind, client_id: session.client_id, mode, subject, name, role }
  context.print.record(
    item,
    [
      ['Signed in', name],
      ['Role', role],
      ['Merchant', identity.merchant?.trading_name ?? ''],
      ['Realm', realm],
      ['Service', api_url],
      ['Mode', mode],
      ['Profile', profile],
    ],
    { id: profile },
  )
}

function remarksOf({ io }: Context, { profile, kind, realm, isNew }: Target): string[] {
  const variable = ['SVC_TOKEN', 'SVC_CLIENT_ID'].find((name) => (io.env[name] ?? '') !== '')
  if (variable !== undefined) return [`${variable} is set: commands use it, and not ${profile}.`]
  if (profile === DEV) return [ofDev(kind, realm)]
  return isNew ? [`Commands now use ${profile}.`] : []
}

function ofDev(kind: ProfileKind, realm: string): string {
  if (kind === 'platform')
    return "Operators' commands now use your identity: svc whoami --platform. Merchants' commands do not change."
  if (kind === 'customer') return 'svc ob now uses your identity: svc whoami --customer. Other commands do not change.'
  return `Commands of merchants now use your identity in realm ${realm}: svc whoami.`
}

/** Ends a session at the provider as well; whether that worked. What is forgotten here counts for nothing either way. */
export async function revokeQuietly(http: Http, session: Session): Promise<boolean> {
  const { auth_url: authUrl, realm, client_id: clientId, refresh_token: refreshToken } = session
  if (refreshToken === null) return true
  try {
    await revoke(http, { authUrl, realm }, { clientId, refreshToken })
    return true
  } catch (error) {
    if (error instanceof CliError) return false
    throw error
  }
}
