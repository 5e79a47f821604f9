import { block, code, pageHead, table } from './markdown.ts'
import { toMermaid } from '../../src/lib/machine.ts'
import type { Transition } from '../../src/lib/machine.ts'

export async function statesPage(): Promise<string> {
  const machines = await loadMachines()
  const sections = machines.map(
    ({ title, rows }) => `## ${title}\n\n${block('mermaid', toMermaid(title, rows))}\n${transitions(rows)}`,
  )
  return `${pageHead(
    'States',
    'Every status in the service moves by one of these tables. The code reads the same rows; the database rejects other moves.',
  )}
${block('sh', 'npx svc docs states')}
${sections.join('\n')}`
}

function transitions(rows: readonly Transition<string>[]): string {
  const hasActor = rows.some((row) => 'actor' in row)
  const hasWebhook = rows.some((row) => 'webhook' in row)
  return table(
    ['From', 'Trigger', 'To', ...(hasActor ? ['Changed by'] : []), ...(hasWebhook ? ['Webhook'] : [])],
    rows.map((row) => [
      row.from === null ? '(new)' : code(row.from),
      row.on,
      code(row.to),
      ...(hasActor ? [textOf(row, 'actor')] : []),
      ...(hasWebhook ? [textOf(row, 'webhook')] : []),
    ]),
  )
}

function textOf(row: object, member: string): string {
  const value: unknown = Object.entries(row).find(([name]) => name === member)?.[1]
  return typeof value === 'string' ? code(value) : '–'
}

type Machine = { title: string; rows: readonly Transition<string>[] }

/** Every state machine of the service, by the tables that the code itself reads. */
async function loadMachines(): Promise<Machine[]> {
  const [payments, consents, disputes, payouts, webhooks, merchants, orders, recurring, requests] = await Promise.all([
    import('../../src/payments/states.ts'),
    import('../../src/consents/states.ts'),
    import('../../src/disputes/states.ts'),
    import('../../src/payouts/states.ts'),
    import('../../src/webhooks/states.ts'),
    import('../../src/merchants/states.ts'),
    import('../../src/instructions/orders/states.ts'),
    import('../../src/instructions/recurring/states.ts'),
    import('../../src/instructions/requests/states.ts'),
  ])
  return [
    { title: 'Payment', rows: payments.PAYMENT_TRANSITIONS },
    { title: 'Payment consent', rows: consents.CONSENT_TRANSITIONS },
    { title: 'Dispute', rows: disputes.DISPUTE_TRANSITIONS },
    { title: 'Payout', rows: payouts.PAYOUT_TRANSITIONS },
    { title: 'Webhook delivery', rows: webhooks.DELIVERY_TRANSITIONS },
    { title: 'KYB', rows: merchants.KYB_TRANSITIONS },
    { title: 'Open Banking payment', rows: orders.ORDER_TRANSITIONS },
    { title: 'Recurring payment', rows: recurring.RECURRING_TRANSITIONS },
    { title: 'Request to pay, offer to pay', rows: requests.PAYMENT_REQUEST_TRANSITIONS },
  ]
}
