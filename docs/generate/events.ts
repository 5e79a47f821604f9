import { sampleData } from '../../src/wire/webhook-samples.ts'
import { EventType } from '../../src/wire/webhook-events.ts'
import { block, code, pageHead, table } from './markdown.ts'

/** When each event is sent. A total record: a new event without a text does not compile. */
const MEANINGS: Readonly<Record<EventType, string>> = {
  'payment.initiated': 'A payment was created, and its payer can authorise it at the bank.',
  'payment.authorized': 'The payer authorised the payment at the bank. No money has arrived yet.',
  'payment.settled': 'The money has arrived. Deliver the goods on this event.',
  'payment.failed': 'The payment ended without money: cancelled, rejected or expired. `failure` has the reason.',
  'payment.refunded': 'The whole amount has been given back.',
  'payment.partially_refunded': 'A part of the amount has been given back. The payment stays `Settled`.',
  'refund.failed': 'The bank rejected a refund. The money stays with the merchant, and the refund can be tried again.',
  'dispute.opened': 'The payer, the merchant or the platform disputes the payment. Evidence is due in 14 days.',
  'dispute.escalated': 'An operator passed the dispute to an OWNER of the platform.',
  'dispute.resolved': 'The dispute is decided, for the merchant or for the payer.',
  'consent.revoked': 'The payer or the merchant ended a mandate; `revokedBy` names who did. Not sent when it expires.',
}

const SAMPLE = {
  merchantId: '01a20000-0000-7000-8000-000000000001',
  paymentId: '01a20000-0000-7000-8000-000000000002',
  consentId: '01a20000-0000-7000-8000-000000000003',
  refundId: '01a20000-0000-7000-8000-000000000004',
  disputeId: '01a20000-0000-7000-8000-000000000005',
  endToEndId: 'SVC62124c9a38e745b680e7e1d27d1ddb32',
  now: '2026-11-21T09:30:00.000Z',
  evidenceSeconds: 1_209_600,
}

export function eventsPage(): string {
  const sections = EventType.options.map((type) => {
    const data = JSON.stringify(sampleData(type, SAMPLE), undefined, 2)
    return `## ${type}\n\n${MEANINGS[type]} The \`data\` of a test event:\n\n${block('json', data)}`
  })
  return `${pageHead(
    'Events',
    `Every event that webhooks, the pull feed and the event stream carry. [Webhooks](../merchants/webhooks.md) explains
how to receive and verify them. A test event has \`"test": true\` in its data; the sandbox also sends the type \`test\`.`,
  )}
${block('sh', 'npx svc sandbox trigger --list\nnpx svc sandbox trigger payment.settled')}
${table(
  ['Event', 'Sent when'],
  EventType.options.map((type) => [code(type), MEANINGS[type]]),
)}
${sections.join('\n')}`
}
