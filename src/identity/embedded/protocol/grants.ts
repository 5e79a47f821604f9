import type { Grant, KoaContextWithOIDC } from 'oidc-provider'
import { requestsOfflineAccess } from './lifetimes.ts'

type GrantInput = { scopes: readonly string[]; resource: string }

/**
 * The grant of a sign-in. A portal belongs to the platform, so it needs no consent and gets all its scopes. A program
 * on the user's machine and offline access need consent first; each offline access gets its own grant, so that revoking
 * one does not end another.
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
