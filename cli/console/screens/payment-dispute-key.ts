import { DisputeReason, raiseAdminDispute, raiseDispute } from '../../../src/wire/disputes.ts'
import { quoted } from '../../base/command-hints.ts'
import { call } from '../../client/call.ts'
import { endOfId } from '../../base/text.ts'
import type { Who } from '../../client/auth/who-is.ts'
import type { ScreenKey } from '../screen.ts'
import type { PaymentRow } from './payment-lines.ts'

/** Opens a dispute about a payment: as its merchant, or for the platform (decision 22). */
export function disputing(kind: Who['kind']): ScreenKey<PaymentRow> {
  const command = kind === 'platform' ? 'svc disputes raise' : 'svc payments dispute'
  return {
    key: 'x',
    label: 'dispute',
    writes: true,
    for: kind,
    permission: kind === 'platform' ? 'operate merchants' : 'refund payments',
    needs: 'one',
    fits: ({ status }) => status === 'Settled' || status === 'Refunded',
    facts: ({ status }) => status,
    command: ({ payment_id: id }, { reason = '...', statement }) =>
      `${command} ${id} --reason ${quoted(reason)}${statement === undefined ? '' : ` --statement ${quoted(statement)}`}`,
    ask: ([row]) => ({
      what: `dispute payment ${endOfId(row?.payment_id ?? '')} of ${row?.gross_amount ?? ''} ${row?.currency ?? ''}`,
      about: [
        kind === 'platform'
          ? 'The dispute is opened for the platform; the merchant is asked for its evidence.'
          : 'The dispute is opened in your own name.',
      ],
      fields: [
        { name: 'reason', label: 'Why', kind: 'choice', words: DisputeReason.options, asks: true },
        { name: 'statement', label: 'In words; both sides read it', kind: 'line', long: true, optional: true },
      ],
      last: ({ reason = '' }) => `opens a dispute about it: ${reason}`,
    }),
    async run({ payment_id: id }, { reason, statement }, { client }) {
      const body = { reason: DisputeReason.parse(reason), ...(statement === undefined ? {} : { statement }) }
      const { body: raised } = await call(client, kind === 'platform' ? raiseAdminDispute : raiseDispute, {
        params: { id },
        body,
      })
      return `opened the dispute ${endOfId(raised.id)}`
    },
  }
}
