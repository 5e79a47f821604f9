import { EVENT_MEANINGS, EventType } from '../wire/webhook-events.ts'
import { payloadOf } from '../wire/webhook-payloads.ts'
import { sampleData } from '../wire/webhook-samples.ts'
import type { Json, Schemas } from './schemas.ts'

const PAYMENT_ID = '0199d5a4-7c1e-7c3a-9b52-3f1d2c4b5a69'
const NOW = '2026-11-21T09:30:00.000Z'

/** A made-up event. */
export function sampleEvent(eventType: EventType): Json {
  const { test: _, ...data } = sampleData(eventType, {
    merchantId: '0199d5a4-7c1e-7c3a-9b52-3f1d2c4b5a01',
    paymentId: PAYMENT_ID,
    consentId: '0199d5a4-7c1e-7c3a-9b52-3f1d2c4b5a02',
    refundId: '0199d5a4-7c1e-7c3a-9b52-3f1d2c4b5a03',
    disputeId: '0199d5a4-7c1e-7c3a-9b52-3f1d2c4b5a04',
    payoutId: '0199d5a4-7c1e-7c3a-9b52-3f1d2c4b5a05',
    bankAccountId: '0199d5a4-7c1e-7c3a-9b52-3f1d2c4b5a06',
    endToEndId: 'SVC0199d5a47c1e7c3a9b523f1d2c4b5a69',
    now: NOW,
    evidenceSeconds: 14 * 86_400,
  })
  return { eventId: 'evt_0199d5a47c1e7c3a9b523f1d2c4b5a69', eventType, apiVersion: 'v1', createdAt: NOW, data }
}

const HEADERS: readonly (readonly [name: string, description: string, example: string])[] = [
  ['webhook-id', 'The id of the event, the same in every delivery.', 'evt_0199d5a47c1e7c3a9b523f1d2c4b5a69'],
  ['webhook-timestamp', 'When this attempt was signed, in seconds since 1970.', '1795253400'],
  ['webhook-signature', 'Signatures of the Standard Webhooks scheme, separated by blanks.', 'v1,<base64>'],
  ['X-Service-Signature', 'The HMAC-SHA-256 of the body, in hexadecimal.', '<64 hex digits>'],
]

/** The `webhooks` of the document: what the service sends to merchants. */
export function webhooksOf({ ref }: Schemas): Json {
  return Object.fromEntries(
    EventType.options.map((eventType) => [
      eventType,
      {
        post: {
          operationId: `on${eventType.replaceAll(/(?:^|[._])([a-z])/g, (_, letter: string) => letter.toUpperCase())}`,
          summary: `Receive ${eventType}`,
          description: `${EVENT_MEANINGS[eventType]} The same event may arrive more than once, with the same id.`,
          tags: ['Webhooks'],
          security: [],
          parameters: HEADERS.map(([name, description, example]) => ({
            name,
            in: 'header',
            required: true,
            description,
            schema: { type: 'string' },
            example,
          })),
          requestBody: {
            required: true,
            content: {
              'application/json': { schema: ref(payloadOf(eventType), 'output'), example: sampleEvent(eventType) },
            },
          },
          responses: {
            '2XX': { description: 'The event is received; its body is ignored.' },
            default: {
              description: 'Anything else, or no answer within five seconds: it is sent again, six times in all.',
            },
          },
        },
      },
    ]),
  )
}
