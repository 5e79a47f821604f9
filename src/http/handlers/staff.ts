import { addStaff } from '../../staff/add-staff.ts'
import { changeStaffRole, listStaff, removeStaff, resetStaffFactor } from '../../staff/staff.ts'
import type { StaffClientRecord } from '../../staff/record.ts'
import { createStaffClient, listStaffClients, revokeStaffClient } from '../../staff/staff-clients.ts'
import { rotateRealmKeys } from '../../staff/rotate-realm-keys.ts'
import { withFactors } from '../../identity/with-factors.ts'
import { PLATFORM_REALM } from '../../lib/realms.ts'
import type * as wire from '../../wire/staff.ts'
import type { Handlers } from '../endpoint.ts'
import { operatorOf } from '../principal.ts'

export const staff: Handlers<typeof wire> = {
  /** GET /api/v1/admin/staff */
  async listStaff(app) {
    const people = await listStaff(app)
    const data = await withFactors(app, PLATFORM_REALM, { people, idOf: (person) => person.keycloak_user_id })
    return { status: 200, body: { data, has_more: false, next_cursor: null } }
  },

  /** POST /api/v1/admin/staff */
  async addStaff(app, { principal, body }) {
    const { display_name: displayName, ...member } = body
    const { member: added } = await addStaff(app, { ...member, displayName, actor: operatorOf(principal).actor })
    return { status: 201, body: added }
  },

  /** PUT /api/v1/admin/staff/{id} */
  async changeStaffRole(app, { principal, params, body }) {
    const { actor } = operatorOf(principal)
    return { status: 200, body: await changeStaffRole(app, { ...body, id: params.id, actor }) }
  },

  /** DELETE /api/v1/admin/staff/{id} */
  async removeStaff(app, { principal, params, body }) {
    const { actor } = operatorOf(principal)
    return { status: 200, body: await removeStaff(app, { id: params.id, reason: body?.reason, actor }) }
  },

  /** POST /api/v1/admin/staff/{id}/reset-factor */
  async resetStaffFactor(app, { principal, params, body }) {
    const { actor } = operatorOf(principal)
    return { status: 200, body: await resetStaffFactor(app, { id: params.id, reason: body?.reason, actor }) }
  },

  /** GET /api/v1/admin/staff-clients */
  async listStaffClients(app) {
    const clients = await listStaffClients(app)
    return { status: 200, body: { data: clients.map(presentClient), has_more: false, next_cursor: null } }
  },

  /** POST /api/v1/admin/staff-clients */
  async createStaffClient(app, { principal, body }) {
    const created = await createStaffClient(app, { ...body, actor: operatorOf(principal).actor })
    const { client_secret, token_endpoint } = created
    return { status: 201, body: { ...presentClient(created), client_secret, token_endpoint } }
  },

  /** DELETE /api/v1/admin/staff-clients/{id} */
  async revokeStaffClient(app, { principal, params, body }) {
    const { actor } = operatorOf(principal)
    return { status: 200, body: await revokeStaffClient(app, { clientId: params.id, reason: body?.reason, actor }) }
  },

  /** POST /api/v1/admin/realms/{slug}/rotate-keys */
  async rotateRealmKeys(app, { principal, params, body }) {
    const { actor } = operatorOf(principal)
    const revokeNow = body?.revoke_now === true
    const keyIds = await rotateRealmKeys(app, { realm: params.slug, revokeNow, reason: body?.reason, actor })
    return { status: 200, body: { realm: params.slug, key_ids: keyIds } }
  },
}

function presentClient({ client_id, role, name, created_by, created_at }: StaffClientRecord): wire.StaffClient {
  return { client_id, role, name, created_by, created_at }
}
