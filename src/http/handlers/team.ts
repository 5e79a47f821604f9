import {
  createApiCredential,
  listApiCredentials,
  revokeApiCredential,
  rotateApiCredential,
} from '../../team/api-credentials.ts'
import type { IssuedCredential } from '../../team/api-credentials.ts'
import type { CredentialRecord } from '../../team/record.ts'
import { inviteTeamMember } from '../../team/invite-team-member.ts'
import { changeTeamRole, listTeam, removeTeamMember } from '../../team/members.ts'
import { resetMemberFactor, resetTeamFactor } from '../../team/reset-factor.ts'
import { knownRealmOf } from '../../team/merchant-realm.ts'
import { withFactors } from '../../identity/with-factors.ts'
import type * as wire from '../../wire/team.ts'
import type { Handlers } from '../endpoint.ts'
import { merchantOf, operatorOf } from '../principal.ts'

export const team: Handlers<typeof wire> = {
  /** GET /api/v1/portal/team */
  async listTeam(app, { principal }) {
    const { merchantId } = merchantOf(principal)
    const people = await listTeam(app, merchantId)
    const data = await withFactors(app, await knownRealmOf(app, merchantId), { people, idOf: ({ id }) => id })
    return { status: 200, body: { data, has_more: false, next_cursor: null } }
  },

  /** POST /api/v1/portal/team */
  async inviteTeamMember(app, { principal, body }) {
    const { merchantId, actor } = merchantOf(principal)
    return { status: 201, body: await inviteTeamMember(app, { ...body, merchantId, actor }) }
  },

  /** PUT /api/v1/portal/team/{id} */
  async changeTeamRole(app, { principal, params, body }) {
    const { merchantId, actor } = merchantOf(principal)
    return { status: 200, body: await changeTeamRole(app, { merchantId, id: params.id, role: body.role, actor }) }
  },

  /** DELETE /api/v1/portal/team/{id} */
  async removeTeamMember(app, { principal, params }) {
    const { merchantId, actor } = merchantOf(principal)
    return { status: 200, body: await removeTeamMember(app, { merchantId, id: params.id, actor }) }
  },

  /** POST /api/v1/portal/team/{id}/reset-factor */
  async resetTeamFactor(app, { principal, params }) {
    const { merchantId, actor } = merchantOf(principal)
    return { status: 200, body: await resetTeamFactor(app, { merchantId, id: params.id, actor }) }
  },

  /** POST /api/v1/admin/merchants/{id}/reset-factor */
  async resetMemberFactor(app, { principal, params, body }) {
    const { actor } = operatorOf(principal)
    return { status: 200, body: await resetMemberFactor(app, { ...body, merchantId: params.id, actor }) }
  },

  /** GET /api/v1/portal/api-credentials */
  async listApiCredentials(app, { principal }) {
    const credentials = await listApiCredentials(app, merchantOf(principal).merchantId)
    return { status: 200, body: { data: credentials.map(presentCredential), has_more: false, next_cursor: null } }
  },

  /** POST /api/v1/portal/api-credentials */
  async createApiCredential(app, { principal, body }) {
    const { merchantId, actor } = merchantOf(principal)
    return { status: 201, body: presentIssued(await createApiCredential(app, { ...body, merchantId, actor })) }
  },

  /** POST /api/v1/portal/api-credentials/{id}/rotate */
  async rotateApiCredential(app, { principal, params }) {
    const { merchantId, actor } = merchantOf(principal)
    return {
      status: 200,
      body: presentIssued(await rotateApiCredential(app, { merchantId, clientId: params.id, actor })),
    }
  },

  /** DELETE /api/v1/portal/api-credentials/{id} */
  async revokeApiCredential(app, { principal, params }) {
    const { merchantId, actor } = merchantOf(principal)
    return { status: 200, body: await revokeApiCredential(app, { merchantId, clientId: params.id, actor }) }
  },
}

function presentCredential(credential: CredentialRecord): wire.ApiCredential {
  const { client_id, kind, role, name, created_by, created_at } = credential
  return { client_id, kind, role, name, created_by, created_at }
}

function presentIssued({ credential, secret, tokenEndpoint }: IssuedCredential) {
  return { ...presentCredential(credential), client_secret: secret, token_endpoint: tokenEndpoint }
}
