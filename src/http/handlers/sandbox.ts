import { roleAllows } from '../../lib/permissions.ts'
import { PLATFORM_REALM } from '../../lib/realms.ts'
import { listMails as readMails } from '../../mail/list-mails.ts'
import { readMail } from '../../mail/read-mail.ts'
import { advanceClock as advance } from '../../sandbox/advance-clock.ts'
import { createSandboxMerchant } from '../../sandbox/create-merchant.ts'
import { readClock as read } from '../../sandbox/read-clock.ts'
import type * as registration from '../../wire/registration.ts'
import type * as wire from '../../wire/sandbox.ts'
import type { Handler } from '../endpoint.ts'
import { operatorOf } from '../principal.ts'
import type { Principal } from '../principal.ts'

/** POST /api/v1/sandbox/merchants */
export const createMerchant: Handler<typeof wire.createSandboxMerchant> = async (app, { principal, body }) => {
  const { actor } = operatorOf(principal)
  return { status: 201, body: await createSandboxMerchant(app, { ...body, actor }) }
}

/** POST /api/v1/sandbox/clock/advance */
export const advanceClock: Handler<typeof wire.advanceSandboxClock> = async (app, { principal, body }) => {
  const { actor } = operatorOf(principal)
  const { merchant_id: merchantId, customer_ids: customerIds, by, to } = body
  const { stops, advancedMs } = await advance(app, { merchantId, customerIds, by, to, actor })
  return {
    status: 200,
    body: { merchant_id: merchantId ?? null, customer_ids: customerIds ?? [], advanced_ms: advancedMs, stops },
  }
}

/** GET /api/v1/sandbox/clock */
export const readClock: Handler<typeof wire.readSandboxClock> = async (app, { query }) => {
  const { merchant_id: merchantId, customer_id: customerId } = query
  const { now, ahead_ms } = await read(app, {
    merchantId,
    customerIds: customerId === undefined ? [] : [customerId],
  })
  return { status: 200, body: { merchant_id: merchantId ?? null, customer_id: customerId ?? null, now, ahead_ms } }
}

/** GET /api/v1/sandbox/mails */
export const listMails: Handler<typeof registration.listMails> = async (app, { principal, query }) => {
  const mails = await readMails(app, { recipient: query.recipient, ...visibleTo(principal) })
  return { status: 200, body: { data: [...mails], has_more: false, next_cursor: null } }
}

/** GET /api/v1/sandbox/mails/{id} */
export const getMail: Handler<typeof registration.getMail> = async (app, { principal, params }) => {
  return { status: 200, body: await readMail(app, params.id, visibleTo(principal)) }
}

/** The links of the platform's own mails make an OWNER of whoever opens them: nobody reads them who may not be one. */
function visibleTo(principal: Principal): { withoutRealm?: string } {
  const mayAll = roleAllows(operatorOf(principal).role, 'administer platform')
  return mayAll ? {} : { withoutRealm: PLATFORM_REALM }
}
