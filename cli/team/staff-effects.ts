import { getService } from '../../src/wire/service.ts'
import { addStaff, rotateRealmKeys } from '../../src/wire/staff.ts'
import type { StaffMember } from '../../src/wire/staff.ts'
import { call } from '../client/call.ts'
import type { Client } from '../client/call.ts'
import { isMerchantRealm, isOfRegistration } from '../merchants/find.ts'
import { wouldRefuse } from '../client/would-refuse.ts'

/** What new keys would come to. @throws {CliError} exit code 6 for a realm that is not there */
export async function effectOfRotation(client: Client, realm: string): Promise<string> {
  const { platform_realm: platform, customers_realm: customers } = (await call(client, getService, {})).body
  const isThere =
    realm === platform ||
    realm === customers ||
    (await isMerchantRealm(client, realm)) ||
    (await isOfRegistration(client, realm))
  if (isThere) return `this would sign the tokens of ${realm} with a new key`
  throw wouldRefuse(client, rotateRealmKeys, {
    input: { params: { slug: realm } },
    refusal: { code: 'REALM_NOT_FOUND', status: 404, message: 'the identity provider has no such realm' },
  })
}

/**
 * What an invitation would come to. Who was seen has taken one.
 * @throws {CliError} exit code 7 where the service would refuse it
 */
export async function effectOfAdding(
  client: Client,
  staff: readonly StaffMember[],
  input: { email: string; role: StaffMember['role'] },
): Promise<string> {
  const { email, role } = input
  const known = staff.find((person) => person.email === email.toLowerCase())
  if (known === undefined) return `this would invite ${email} as ${role}`
  if (!known.is_active) return `this would invite ${email} once more, as ${role}: the account was removed`
  const { identity } = (await call(client, getService, {})).body
  if (known.last_seen_at === null || identity === 'none')
    return `this would send ${email} another invitation, and make it ${role}`
  throw wouldRefuse(client, addStaff, {
    input: { body: { ...input, reason: '' } },
    refusal: { code: 'USER_EXISTS', status: 409, message: 'a staff member with this e-mail address already exists' },
  })
}
