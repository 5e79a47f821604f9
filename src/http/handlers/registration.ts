import { listRegistrations } from '../../registrations/list-registrations.ts'
import type { TroubledRegistration } from '../../registrations/list-registrations.ts'
import { registerMerchant } from '../../registrations/register-merchant.ts'
import { repairRegistration } from '../../registrations/repair-registration.ts'
import type * as wire from '../../wire/registration.ts'
import type { Handlers } from '../endpoint.ts'
import { operatorOf } from '../principal.ts'
import { viewOf } from '../view-of.ts'

export const registration: Handlers<typeof wire> = {
  /** POST /api/v1/portal/register */
  async registerMerchant(app, { body, clientAddress }) {
    return { status: 201, body: await registerMerchant(app, { ...body, clientAddress }) }
  },

  /** GET /api/v1/admin/registrations */
  async listRegistrations(app, { principal }) {
    const view = viewOf(operatorOf(principal))
    const { registrations, hasMore } = await listRegistrations(app)
    return {
      status: 200,
      // The failure's text may name the administrator too.
      body: { data: registrations.map((each) => view(present(each))), has_more: hasMore, next_cursor: null },
    }
  },

  /** POST /api/v1/admin/registrations/{slug}/repair */
  async repairRegistration(app, { principal, params, body }) {
    const { actor } = operatorOf(principal)
    const repaired = await repairRegistration(app, {
      slug: params.slug,
      rollback: body?.rollback ?? false,
      adminEmail: body?.admin_email,
      reason: body?.reason,
      actor,
    })
    return { status: 200, body: repaired }
  },
}

function present({ registration, problems }: TroubledRegistration): wire.Registration {
  const { slug, status, company_name, trading_name, admin_email, merchant_id } = registration
  const { warnings, failure, invited_at, created_at } = registration
  return {
    slug,
    status,
    company_name,
    trading_name,
    admin_email,
    merchant_id,
    warnings,
    failure,
    invited_at,
    created_at,
    problems,
  }
}
