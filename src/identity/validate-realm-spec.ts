import { isUuid } from '../lib/ids.ts'
import { isSlug } from '../lib/realms.ts'
import type { RealmSpec } from './provider.ts'

/**
 * Rejects specifications that no provider can create: they are bugs of the caller, and must not cost a database
 * connection. @throws {TypeError}
 */
export function validateRealmSpec({ slug, registrationId, roles, service, admin }: RealmSpec): void {
  if (!isSlug(slug)) throw new TypeError(`${slug} is not a valid realm name`)
  if (!isUuid(registrationId)) throw new TypeError('the registration id of a realm must be a UUID')
  const assigned = [...(service?.roles ?? []), ...(admin?.roles ?? [])]
  const unknown = assigned.filter((role) => !roles.includes(role))
  if (unknown.length > 0) throw new TypeError(`realm ${slug} has no role ${unknown.join(', ')}`)
}
