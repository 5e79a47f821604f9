import { CUSTOMERS_REALM, PLATFORM_REALM } from '../../../src/lib/realms.ts'

/** The command that signs in to a realm. */
export function loginTo(realm: string): string {
  if (realm === CUSTOMERS_REALM) return 'svc login --customer'
  return realm === PLATFORM_REALM ? 'svc login --platform' : `svc login --realm ${realm}`
}
