import { sampleData } from '../../src/wire/webhook-samples.ts'
import { EVENT_MEANINGS, EventType } from '../../src/wire/webhook-events.ts'
import { block, code, pageHead, table } from './markdown.ts'

const SAMPLE = {
  merchantId: '01a20000-0000-7000-8000-000000000001',
  paymentId: '01a20000-0000-7000-8000-000000000002',
  consentId: '01a20000-0000-7000-8000-000000000003',
  refundId: '01a20000-0000-7000-8000-000000000004',
  disputeId: '01a20000-0000-7000-8000-000000000005',
  payoutId: '01a20000-0000-7000-8000-000000000006',
  bankAccountId: '01a20000-0000-7000-8000-000000000007',
  endToEndId: 'SVC62124c9a38e745b680e7e1d27d1ddb32',
  now: '2026-11-21T09:30:00.000Z',
  evidenceSeconds: 1_209_600,
}

export function eventsPage(): string {
  const sections = EventType.options.map((type) => {
    const data = JSON.stringify(sampleData(type, SAMPLE), undefined, 2)
    return `## ${type}\n\n${EVENT_MEANINGS[type]} The \`data\` of a test event:\n\n${block('json', data)}`
  })
  return `${pageHead(
    'Events',
    `Every event that webhooks, the pull feed and the event stream carry. [Webhooks](../merchants/webhooks.md) explains
how to receive and verify them. A test event has \`"test": true\` in its data; the sandbox also sends the type \`test\`.`,
  )}
${block('sh', 'npx svc trigger --list\nnpx svc trigger payment.settled')}
${table(
  ['Event', 'Sent when'],
  EventType.options.map((type) => [code(type), EVENT_MEANINGS[type]]),
)}
${sections.join('\n')}`
}
