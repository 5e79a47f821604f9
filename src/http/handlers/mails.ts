import { roleAllows } from '../../lib/permissions.ts'
import { PLATFORM_REALM } from '../../lib/realms.ts'
import { getMail } from '../../mail/get-mail.ts'
import { listMails } from '../../mail/list-mails.ts'
import type * as wire from '../../wire/mails.ts'
import type { Handlers } from '../endpoint.ts'
import { operatorOf } from '../principal.ts'
import type { Principal } from '../principal.ts'

export const mails: Handlers<typeof wire> = {
  /** GET /api/v1/sandbox/mails */
  async listMails(app, { principal, query }) {
    const mails = await listMails(app, { recipient: query.recipient, ...visibleTo(principal) })
    return { status: 200, body: { data: [...mails], has_more: false, next_cursor: null } }
  },

  /** GET /api/v1/sandbox/mails/{id} */
  async getMail(app, { principal, params }) {
    return { status: 200, body: await getMail(app, params.id, visibleTo(principal)) }
  },
}

/**
 * The links in the platform's own mails make their reader an OWNER, so only a caller who may administer the platform
 * sees them.
 */
function visibleTo(principal: Principal): { withoutRealm?: string } {
  const seesAll = roleAllows(operatorOf(principal).role, 'administer platform')
  return seesAll ? {} : { withoutRealm: PLATFORM_REALM }
}
