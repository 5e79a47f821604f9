import type { Grant, KoaContextWithOIDC } from 'oidc-provider'
import { requestsOfflineAccess } from './lifetimes.ts'

type GrantInput = { scopes: readonly string[]; resource: string }

/**
 * The grant that a sign-in is filed under. A portal is the platform's own, so nobody is asked for consent and it gets
 * what it may have. A program on somebody's machine, and lasting access, get a grant only after the person said yes; a
 * lasting one gets a grant of its own each time, so that ending it ends no other.
 */
export async function loadGrant(ctx: KoaContextWithOIDC, granted: GrantInput): Promise<Grant | undefined> {
  const { client, session, account, result, params, provider } = ctx.oidc
  if (client === undefined || session === undefined || account === undefined) return undefined
  const isOffline = requestsOfflineAccess(params)
  const needsConsent = isOffline || client.applicationType === 'native'
  if (needsConsent && result?.consent === undefined) return undefined
  const known = session.grantIdFor(client.clientId)
  const existing = known !== undefined && !isOffline ? await provider.Grant.find(known) : undefined
  if (existing !== undefined && existing.accountId === account.accountId) return existing
  const grant = new provider.Grant({ accountId: account.accountId, clientId: client.clientId })
  grant.addOIDCScope(granted.scopes.join(' '))
  grant.addResourceScope(granted.resource, granted.scopes.join(' '))
  await grant.save()
  return grant
}
