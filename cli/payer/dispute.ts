import { getPayerPayment, raisePayerDispute } from '../../src/wire/payer.ts'
import { call } from '../client/call.ts'
import { shortTime } from '../base/text.ts'
import { payerFlags, raising } from '../disputes/raise-actions.ts'
import { disputed } from '../disputes/subject.ts'
import { action } from '../kit/action.ts'

/** `svc payer dispute`: the payer says that something is wrong with a payment. */
export const payerDispute = action({
  ...raising,
  command: 'payer dispute',
  summary: 'Dispute a payment',
  examples: ['svc payer dispute a2b4358c --reason ITEM_NOT_RECEIVED --statement "nothing came"'],
  subject: disputed(async (client, given) => {
    const { payersPaymentId } = await import('./payments.ts')
    return (await call(client, getPayerPayment, { params: { id: await payersPaymentId(client, given) } })).body
  }),
  flags: payerFlags,
  operation: raisePayerDispute,
  request: (id, { reason, statement }) => ({
    params: { id },
    body: { reason, ...(statement === undefined ? {} : { payer_statement: statement }) },
  }),
  view(context, raised) {
    context.print.record({
      item: raised,
      id: raised.id,
      lines: [
        ['Dispute', raised.id],
        ['Payment', raised.payment_id],
        ['Status', raised.status],
        ['Reason', raised.reason],
        ['You say', raised.payer_statement ?? ''],
        ['Opened', shortTime(raised.opened_at)],
      ],
    })
    if (!context.print.isMachine) context.note(`Next: svc payer show ${raised.payment_id}`)
  },
})
