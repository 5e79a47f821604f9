import { isUuid } from '../lib/ids.ts'
import { isSlug } from '../lib/realms.ts'
import type { RealmSpec } from './provider.ts'

/** What no provider can make, and a table would refuse at the cost of a connection, is a bug of the caller's. @throws {TypeError} */
export function validateRealmSpec({ slug, registrationId, roles, service, admin }: RealmSpec): void {
  if (!isSlug(slug)) throw new TypeError(`${slug} can't be the name of a realm`)
  if (!isUuid(registrationId)) throw new TypeError('the registration of a realm is named by a UUID')
  const given = [...(service?.roles ?? []), ...(admin?.roles ?? [])]
  const unknown = given.filter((role) => !roles.includes(role))
  if (unknown.length > 0) throw new TypeError(`realm ${slug} has no role ${unknown.join(', ')}`)
}
