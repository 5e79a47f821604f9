import { permissionsOf } from '../../lib/permissions.ts'
import { CUSTOMERS_REALM, PLATFORM_REALM } from '../../lib/realms.ts'
import { packageVersion } from '../../lib/package-root.ts'
import type * as wire from '../../wire/service.ts'
import type { Handlers } from '../endpoint.ts'
import { callerOf } from '../principal.ts'

export const service: Handlers<typeof wire> = {
  /** GET /api/v1/service */
  async getService(app) {
    return {
      status: 200,
      body: {
        name: 'svc',
        version: packageVersion(),
        mode: app.config.mode,
        identity: app.identity.kind,
        auth_url: app.identity.authUrl,
        platform_realm: PLATFORM_REALM,
        customers_realm: CUSTOMERS_REALM,
        vrp_caps: app.config.vrpCaps,
      },
    }
  },

  /** GET /api/v1/whoami */
  async whoami(_app, { principal }) {
    const caller = callerOf(principal)
    const { actor, proof } = caller
    return {
      status: 200,
      body: {
        kind: caller.kind,
        realm: proof.realm,
        client_id: proof.clientId,
        subject: actor.id,
        name: actor.name,
        role: caller.role,
        permissions: [...new Set(proof.roles.flatMap((role) => permissionsOf(role)))],
        merchant:
          caller.kind === 'merchant'
            ? {
                id: caller.merchantId,
                trading_name: caller.tradingName,
                kyb_status: caller.kybStatus,
                is_active: caller.isActive,
              }
            : null,
        expires_at: proof.expiresAt,
      },
    }
  },
}
