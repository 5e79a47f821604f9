import {
  createCredential as makeCredential,
  listCredentials as readCredentials,
  revokeCredential as endCredential,
  rotateCredential as replaceSecret,
} from '../../team/credentials.ts'
import type { ShownCredential } from '../../team/credentials.ts'
import type { CredentialRecord } from '../../team/record.ts'
import { inviteMember } from '../../team/invite-member.ts'
import { changeMemberRole, listTeam, removeMember } from '../../team/members.ts'
import type * as wire from '../../wire/team.ts'
import type { Handler } from '../endpoint.ts'
import { merchantOf } from '../principal.ts'

/** GET /api/v1/portal/team */
export const list: Handler<typeof wire.listTeam> = async (app, { principal }) => {
  const members = await listTeam(app, merchantOf(principal).merchantId)
  return { status: 200, body: { data: [...members], has_more: false, next_cursor: null } }
}

/** POST /api/v1/portal/team */
export const invite: Handler<typeof wire.inviteTeamMember> = async (app, { principal, body }) => {
  const { merchantId, actor } = merchantOf(principal)
  return { status: 201, body: await inviteMember(app, { ...body, merchantId, actor }) }
}

/** PUT /api/v1/portal/team/{id} */
export const changeRole: Handler<typeof wire.changeTeamRole> = async (app, { principal, params, body }) => {
  const { merchantId, actor } = merchantOf(principal)
  return { status: 200, body: await changeMemberRole(app, { merchantId, id: params.id, role: body.role, actor }) }
}

/** DELETE /api/v1/portal/team/{id} */
export const remove: Handler<typeof wire.removeTeamMember> = async (app, { principal, params }) => {
  const { merchantId, actor } = merchantOf(principal)
  return { status: 200, body: await removeMember(app, { merchantId, id: params.id, actor }) }
}

/** GET /api/v1/portal/api-credentials */
export const listCredentials: Handler<typeof wire.listApiCredentials> = async (app, { principal }) => {
  const credentials = await readCredentials(app, merchantOf(principal).merchantId)
  return { status: 200, body: { data: credentials.map(presentCredential), has_more: false, next_cursor: null } }
}

/** POST /api/v1/portal/api-credentials */
export const createCredential: Handler<typeof wire.createApiCredential> = async (app, { principal, body }) => {
  const { merchantId, actor } = merchantOf(principal)
  return { status: 201, body: presentShown(await makeCredential(app, { ...body, merchantId, actor })) }
}

/** POST /api/v1/portal/api-credentials/{id}/rotate */
export const rotateCredential: Handler<typeof wire.rotateApiCredential> = async (app, { principal, params }) => {
  const { merchantId, actor } = merchantOf(principal)
  return { status: 200, body: presentShown(await replaceSecret(app, { merchantId, clientId: params.id, actor })) }
}

/** DELETE /api/v1/portal/api-credentials/{id} */
export const revokeCredential: Handler<typeof wire.revokeApiCredential> = async (app, { principal, params }) => {
  const { merchantId, actor } = merchantOf(principal)
  return { status: 200, body: await endCredential(app, { merchantId, clientId: params.id, actor }) }
}

function presentCredential(credential: CredentialRecord): wire.ApiCredential {
  const { client_id, kind, role, name, created_by, created_at } = credential
  return { client_id, kind, role, name, created_by, created_at }
}

function presentShown({ credential, secret, tokenEndpoint }: ShownCredential) {
  return { ...presentCredential(credential), client_secret: secret, token_endpoint: tokenEndpoint }
}
