import { erasePayer } from '../../payers/erase-payer.ts'
import type * as wire from '../../wire/erasure.ts'
import type { Handlers } from '../endpoint.ts'
import { operatorOf } from '../principal.ts'

export const erasure: Handlers<typeof wire> = {
  /** POST /api/v1/admin/payers/erase */
  async erasePayer(app, { principal, body: { reason, ...contact } }) {
    return { status: 200, body: await erasePayer(app, { contact, reason, actor: operatorOf(principal).actor }) }
  },
}
