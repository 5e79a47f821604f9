import { EventType } from '../../../../src/wire/webhook-events.ts'
import type { Delivery } from '../../send.ts'
import { bytesOf, checksWith, deliver, eventOf, unknownSecret, withData } from '../kit.ts'
import type { Check, Envelope, Kit } from '../kit.ts'

/** As long as the service lets people write. */
const WORDS_MAX = 5_000
const AT_ONCE = 8
const STATEMENT = 'Zoë Łódź 東京 🚲 "never/arrived"'
const DAYS_3 = 3 * 24 * 3_600_000

/** The delivery without which no other result means anything. */
export const GOOD: Check = {
  id: 'good',
  sends: 'payment.settled, signed with your secret',
  expects: 'a 2xx within 5 seconds',
  advice: 'Look at what your server logged for this request.',
  rule: 'taken',
  rounds: (kit) => [[deliver(kit, eventOf(kit))]],
}

export const GENUINE = checksWith({ rule: 'taken', expects: '2xx' }, [
  {
    id: 'events',
    sends: `one of each of the ${EventType.options.length} types of event`,
    expects: '2xx for each of them',
    advice: 'Answer 2xx also to events that you do nothing with, and to payments that you do not know.',
    rounds: (kit) => EventType.options.map((type) => [deliver(kit, eventOf(kit, type))]),
  },
  {
    id: 'spelling',
    sends: 'an event with line ends, another order of members and \\u escapes; the signature is over these bytes',
    advice:
      'Compute the HMAC over the bytes as they arrived, not over JSON that you wrote again, and parse it with a JSON parser.',
    rounds: (kit) => {
      const event = disputeOf(kit)
      return [[deliver(kit, event, { body: spelt(event) })]]
    },
  },
  {
    id: 'utf8',
    sends: 'a dispute in whose text there are letters beyond ASCII',
    advice: 'Compute the HMAC over bytes; where you need text for it, decode and encode as UTF-8.',
    rounds: (kit) => [[deliver(kit, disputeOf(kit))]],
  },
  {
    id: 'old-secret',
    sends: 'X-Service-Signature of a new secret, and yours in X-Service-Signature-Previous',
    expects: '2xx: either of the two proves the sender',
    advice: 'Accept a body that X-Service-Signature-Previous proves, or each rotation of the secret loses you events.',
    rounds: (kit) => [[deliver(kit, eventOf(kit), { secret: unknownSecret(), previous: kit.secret })]],
  },
  {
    id: 'new-secret',
    sends: 'X-Service-Signature of your secret, and that of a former one in X-Service-Signature-Previous',
    expects: '2xx: either of the two proves the sender',
    advice: 'Accept a body that X-Service-Signature proves, whatever X-Service-Signature-Previous says.',
    rounds: (kit) => [[deliver(kit, eventOf(kit), { previous: unknownSecret() })]],
  },
  {
    id: 'duplicate',
    sends: 'one event twice, and then four times at once',
    expects: '2xx each time, at once; whether you act once can be seen on your side alone',
    advice: 'Keep each eventId with a unique key. Answer 200 to one that you know, and do nothing.',
    rounds: (kit) => {
      const event = eventOf(kit)
      const again = (time: string): Delivery => deliver(kit, event, { label: `the ${time} time` })
      return [[again('first')], [again('second')], ['third', 'fourth', 'fifth', 'sixth'].map(again)]
    },
  },
  {
    id: 'out-of-order',
    sends: 'payment.settled, then payment.authorized, then payment.initiated of one payment',
    expects: '2xx for each of them',
    advice:
      'Retries overtake each other. Keep the highest data.sequence of each payment, answer 2xx to a lower one, and pass over it.',
    rounds: (kit) => {
      const { id } = eventOf(kit).data
      const types = ['payment.settled', 'payment.authorized', 'payment.initiated'] as const
      return types.map((type) => [deliver(kit, withData(eventOf(kit, type), { id }))])
    },
  },
  {
    id: 'late',
    sends: 'an event whose createdAt is three days old, sent and signed now',
    advice: 'Retries and replays send events long after createdAt. Judge age, if at all, by webhook-timestamp.',
    rounds: (kit) => [[deliver(kit, eventOf(kit, 'payment.settled', DAYS_3))]],
  },
  {
    id: 'unknown-event',
    sends: 'an event of the type exam.unknown',
    advice: 'New types of event may come any time. Answer 2xx to those that you do not know, and pass over them.',
    rounds: (kit) => [[deliver(kit, { ...eventOf(kit), eventType: 'exam.unknown' })]],
  },
  {
    id: 'unknown-members',
    sends: 'an event with members that you do not know, in its envelope and in its data',
    advice: 'New members may be added at any time. Ignore those that you do not know; a schema must not reject them.',
    rounds: (kit) => {
      const event = withData(eventOf(kit), { examMember: { list: [1, null, 'text'] }, examEmpty: null })
      return [[deliver(kit, event, { body: bytesOf({ ...event, examMember: true }) })]]
    },
  },
  {
    id: 'large',
    sends: 'dispute.resolved with the longest texts that people can write, about 30 kB',
    advice: 'Raise the limit for the body of this address, in your program and in the web server in front of it.',
    rounds: (kit) => {
      const words = '語'.repeat(WORDS_MAX)
      const event = withData(eventOf(kit, 'dispute.resolved'), { payerStatement: words, resolutionNote: words })
      return [[deliver(kit, event)]]
    },
  },
])

/** How fast a receiver answers: half of the limit at most. */
export const QUICK = checksWith(
  { rule: 'quick', expects: '2xx within 5 seconds; more than half of that is a warning' },
  [
    {
      id: 'answer-time',
      sends: 'three events, one after the other',
      advice:
        'Note the event and answer; do the work afterwards, from a queue. After 5 seconds the delivery counts as failed.',
      rounds: (kit) => ['first', 'second', 'third'].map((label) => [deliver(kit, eventOf(kit), { label })]),
    },
    {
      id: 'at-once',
      sends: `${AT_ONCE} events at the same time`,
      advice:
        'Events come in bursts. Let the server work on several requests at a time, and do the work after the answer.',
      rounds: (kit) => [
        Array.from({ length: AT_ONCE }, (_, index) => deliver(kit, eventOf(kit), { label: `number ${index + 1}` })),
      ],
    },
  ],
)

function disputeOf(kit: Kit): Envelope {
  return withData(eventOf(kit, 'dispute.opened'), { payerStatement: STATEMENT })
}

/** The same value in JSON that the service would not write so: lines, members from last to first, escapes. */
function spelt(event: Envelope): Buffer {
  const text = JSON.stringify(Object.fromEntries(Object.entries(event).toReversed()), null, 2)
  const escaped = text.replaceAll('/', '\\/').replace(/[^\n -~]/g, (unit) => {
    return `\\u${unit.charCodeAt(0).toString(16).padStart(4, '0')}`
  })
  return Buffer.from(escaped, 'utf8')
}
