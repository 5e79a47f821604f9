import type { Delivery } from '../../send.ts'
import { bytesOf, checksWith, deliver, eventOf, withData } from '../kit.ts'
import type { Kit } from '../kit.ts'

const AT_ONCE = 8
const PROBE_HEADERS = { 'user-agent': 'svc-webhooks/1' }

/** How a receiver behaves under what networks and strangers do. */
export const CONDUCT = checksWith({ rule: 'taken', expects: '2xx' }, [
  {
    id: 'slow-body',
    sends: 'an event in four pieces with pauses between them, one of which parts a letter of several bytes',
    advice:
      'Read as many bytes as Content-Length says, and put bytes together, not text: a piece may end within a letter.',
    rounds: (kit) => [[inPieces(kit)]],
  },
  {
    id: 'answer-time',
    sends: 'three events, one after the other',
    expects: '2xx within 5 seconds; more than half of that is a warning',
    advice:
      'Note the event and answer; do the work afterwards, from a queue. After 5 seconds the delivery counts as failed.',
    rule: 'quick',
    rounds: (kit) => ['first', 'second', 'third'].map((label) => [deliver(kit, eventOf(kit), { label })]),
  },
  {
    id: 'at-once',
    sends: `${AT_ONCE} events at the same time`,
    expects: '2xx within 5 seconds for each; more than half of that is a warning',
    advice:
      'Events come in bursts. Let the server work on several requests at a time, and do the work after the answer.',
    rule: 'quick',
    rounds: (kit) => [
      Array.from({ length: AT_ONCE }, (_, index) => deliver(kit, eventOf(kit), { label: `number ${index + 1}` })),
    ],
  },
  {
    id: 'not-post',
    sends: 'GET, HEAD and PUT without a body; svc webhooks endpoint check asks with HEAD',
    expects: 'any answer that is no 5xx: 405',
    advice: 'Answer 405 to every method but POST.',
    must: false,
    rule: 'steady',
    rounds: () => [(['GET', 'HEAD', 'PUT'] as const).map(bare)],
  },
])

function bare(method: 'GET' | 'HEAD' | 'PUT'): Delivery {
  return { method, headers: PROBE_HEADERS, body: method === 'PUT' ? [Buffer.alloc(0)] : null, label: method }
}

function inPieces(kit: Kit): Delivery {
  const event = withData(eventOf(kit, 'dispute.opened'), { payerStatement: 'Zoë, twice: Zoë' })
  const body = bytesOf(event)
  const letter = Buffer.from('ë', 'utf8')
  const [first, second] = [body.indexOf(letter) + 1, body.lastIndexOf(letter) + 1]
  const cuts = [first, second, second + 1]
  const pieces = [0, ...cuts].map((from, index) => body.subarray(from, cuts[index] ?? body.length))
  return { ...deliver(kit, event), body: pieces }
}
