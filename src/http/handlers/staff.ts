import { addStaff } from '../../staff/add-staff.ts'
import { changeStaffRole, listStaff as readStaff, removeStaff } from '../../staff/staff.ts'
import type { StaffClientRecord } from '../../staff/record.ts'
import { createStaffClient, listStaffClients, revokeStaffClient } from '../../staff/staff-clients.ts'
import { rotateRealmKeys } from '../../staff/rotate-keys.ts'
import type * as wire from '../../wire/staff.ts'
import type { Handler } from '../endpoint.ts'
import { operatorOf } from '../principal.ts'

/** GET /api/v1/admin/staff */
export const list: Handler<typeof wire.listStaff> = async (app) => {
  return { status: 200, body: { data: [...(await readStaff(app))], has_more: false, next_cursor: null } }
}

/** POST /api/v1/admin/staff */
export const add: Handler<typeof wire.addStaff> = async (app, { principal, body }) => {
  const { display_name: displayName, ...wish } = body
  const { member } = await addStaff(app, { ...wish, displayName, actor: operatorOf(principal).actor })
  return { status: 201, body: member }
}

/** PUT /api/v1/admin/staff/{id} */
export const changeRole: Handler<typeof wire.changeStaffRole> = async (app, { principal, params, body }) => {
  const { actor } = operatorOf(principal)
  return { status: 200, body: await changeStaffRole(app, { ...body, id: params.id, actor }) }
}

/** DELETE /api/v1/admin/staff/{id} */
export const remove: Handler<typeof wire.removeStaff> = async (app, { principal, params, query }) => {
  const { actor } = operatorOf(principal)
  return { status: 200, body: await removeStaff(app, { id: params.id, reason: query.reason, actor }) }
}

/** GET /api/v1/admin/staff-clients */
export const listClients: Handler<typeof wire.listStaffClients> = async (app) => {
  const clients = await listStaffClients(app)
  return { status: 200, body: { data: clients.map(presentClient), has_more: false, next_cursor: null } }
}

/** POST /api/v1/admin/staff-clients */
export const createClient: Handler<typeof wire.createStaffClient> = async (app, { principal, body }) => {
  const made = await createStaffClient(app, { ...body, actor: operatorOf(principal).actor })
  const { client_secret, token_endpoint } = made
  return { status: 201, body: { ...presentClient(made), client_secret, token_endpoint } }
}

/** DELETE /api/v1/admin/staff-clients/{id} */
export const revokeClient: Handler<typeof wire.revokeStaffClient> = async (app, { principal, params, query }) => {
  const { actor } = operatorOf(principal)
  return { status: 200, body: await revokeStaffClient(app, { clientId: params.id, reason: query.reason, actor }) }
}

/** POST /api/v1/admin/realms/{slug}/rotate-keys */
export const rotateKeys: Handler<typeof wire.rotateRealmKeys> = async (app, { principal, params, body }) => {
  const { actor } = operatorOf(principal)
  const keyIds = await rotateRealmKeys(app, { realm: params.slug, reason: body?.reason, actor })
  return { status: 200, body: { realm: params.slug, key_ids: keyIds } }
}

function presentClient({ client_id, role, name, created_by, created_at }: StaffClientRecord): wire.StaffClient {
  return { client_id, role, name, created_by, created_at }
}
