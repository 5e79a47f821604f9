import type { App } from '../app.ts'
import { RealmExistsError } from '../identity/provider.ts'
import type { RealmSpec } from '../identity/provider.ts'
import { PLATFORM_ROLES, SCOPES } from '../lib/permissions.ts'
import { CUSTOMERS_REALM, PLATFORM_REALM, clientIdsOf, portalAddressesOf } from '../lib/realms.ts'
import { insertSignInClients } from './clients-sql.ts'

type PlatformApp = Pick<App, 'pool' | 'identity' | 'publicUrl'>

/** The service's own realms have no registration; these fixed ids stand for one in every installation. */
const REGISTRATION = {
  platform: '00000000-0000-4000-8000-000000000001',
  customers: '00000000-0000-4000-8000-000000000002',
}

/**
 * Creates the realms of the platform's staff and of the banks' customers (decision 58) if they are missing. Concurrent
 * calls are safe.
 * @throws {IdentityUnavailableError}
 */
export async function ensurePlatform(app: PlatformApp): Promise<void> {
  // Before the realm: rows without a realm are harmless, and a client without a row is rejected.
  const { portal, cli } = clientIdsOf(PLATFORM_REALM)
  await insertSignInClients(app.pool, { portal, cli, createdBy: 'svc' })
  await ensureRealm(app, {
    slug: PLATFORM_REALM,
    kind: 'platform',
    displayName: 'Platform',
    registrationId: REGISTRATION.platform,
    ...signInClients(app, PLATFORM_REALM),
    roles: PLATFORM_ROLES,
  })
  await ensureRealm(app, {
    slug: CUSTOMERS_REALM,
    kind: 'customers',
    displayName: 'svc Bank',
    registrationId: REGISTRATION.customers,
    ...signInClients(app, CUSTOMERS_REALM),
    roles: [],
    scopes: SCOPES,
  })
}

async function ensureRealm({ identity }: PlatformApp, spec: RealmSpec): Promise<void> {
  if (await identity.realmExists(spec.slug)) return
  try {
    await identity.createRealm(spec)
  } catch (error) {
    // A concurrent process has created it.
    if (!(error instanceof RealmExistsError)) throw error
  }
}

/** The clients for sign-in to the service's own realms, in a browser and at a terminal. */
function signInClients({ publicUrl }: PlatformApp, slug: string): Pick<RealmSpec, 'portal' | 'cli'> {
  const { portal, cli } = clientIdsOf(slug)
  return { portal: { clientId: portal, ...portalAddressesOf(slug, { publicUrl }) }, cli: { clientId: cli } }
}
