import type { App } from '../app.ts'
import type { RealmSpec } from '../identity/provider.ts'
import type { MerchantRole } from '../lib/permissions.ts'
import { MERCHANT_ROLES } from '../lib/permissions.ts'
import { clientIdsOf, portalAddressesOf } from '../lib/realms.ts'

export type MerchantRealm = {
  slug: string
  displayName: string
  /** The owner of the realm: only this id can delete it. */
  registrationId: string
  /** The secret of the server client. */
  secret: string
  /** The role of the server client; null is payments only (decision 31). */
  serverRole: MerchantRole | null
  admin?: { email: string }
}

/**
 * The specification of a merchant's realm: three clients named after its slug, the team's roles, and one administrator.
 */
export function merchantRealm(app: Pick<App, 'config' | 'publicUrl'>, realm: MerchantRealm): RealmSpec {
  const { portal, server, cli } = clientIdsOf(realm.slug)
  return {
    slug: realm.slug,
    kind: 'merchant',
    displayName: realm.displayName,
    registrationId: realm.registrationId,
    portal: {
      clientId: portal,
      ...portalAddressesOf(realm.slug, { publicUrl: app.publicUrl, portalUrl: app.config.portalUrl }),
    },
    service: {
      clientId: server,
      secret: realm.secret,
      roles: realm.serverRole === null ? [] : [realm.serverRole],
    },
    cli: { clientId: cli },
    roles: MERCHANT_ROLES,
    ...(realm.admin === undefined ? {} : { admin: { email: realm.admin.email, roles: ['ADMIN'] } }),
  }
}
