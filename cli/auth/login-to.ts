import { PLATFORM_REALM } from '../../src/lib/realms.ts'

/** The command that signs in to a realm. */
export function loginTo(realm: string): string {
  return realm === PLATFORM_REALM ? 'svc login --platform' : `svc login --realm ${realm}`
}
