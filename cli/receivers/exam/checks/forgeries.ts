import { signBody } from '../../../../src/lib/webhook-signature.ts'
import type { Delivery } from '../../send.ts'
import { bytesOf, checksWith, deliver, eventOf, unknownSecret, withData, withHeaders } from '../kit.ts'
import type { Kit } from '../kit.ts'

const UNSIGNED = { 'X-Service-Signature': null, 'webhook-signature': null }

export const FORGERIES = checksWith({ rule: 'refused', expects: '401' }, [
  {
    id: 'unsigned',
    sends: 'an event without any signature header',
    advice: 'Refuse what has no X-Service-Signature before anything else looks at it. Is the check switched off?',
    rounds: (kit) => [[withHeaders(deliver(kit, eventOf(kit)), UNSIGNED)]],
  },
  {
    id: 'unknown-secret',
    sends: 'an event that is signed with a secret that you do not hold',
    advice: 'That there is a signature proves nothing: compute your own over the body, and compare the two.',
    rounds: (kit) => [[deliver(kit, eventOf(kit), { secret: unknownSecret() })]],
  },
  {
    id: 'unknown-pair',
    sends: 'both X-Service-Signature and X-Service-Signature-Previous, neither made with your secret',
    advice: 'Hold X-Service-Signature-Previous against your signature just as you do X-Service-Signature.',
    rounds: (kit) => [[deliver(kit, eventOf(kit), { secret: unknownSecret(), previous: unknownSecret() })]],
  },
  {
    id: 'empty-secret',
    sends: 'an event whose signatures are made with an empty key, which anybody can do',
    advice:
      'Somewhere a secret that is not set counts as an empty one. Do not start without it, and skip what is unset.',
    rounds: (kit) => [[deliver(kit, eventOf(kit), { secret: '' })], [emptyPrevious(kit)]],
  },
  {
    id: 'tampered',
    sends: 'an event of which an amount, a single byte or the whole body was changed after it was signed',
    advice: 'Compute the HMAC over the whole body as it arrived, not over parts of it such as the eventId.',
    rounds: tampered,
  },
  {
    id: 'reserialised',
    sends: 'the same JSON with other spaces than were signed',
    advice: 'You sign JSON that you parsed and wrote again. Take the raw bytes, before any middleware parses the body.',
    rounds: (kit) => {
      const event = eventOf(kit)
      const body = Buffer.from(JSON.stringify(event, null, 2), 'utf8')
      return [[deliver(kit, event, { body, over: bytesOf(event) })]]
    },
  },
  {
    id: 'damaged-signature',
    sends: 'signatures that are empty, cut, too long, or nothing but zeros',
    expects: '401, and no 5xx',
    advice: 'Compare whole signatures of equal length only; constant-time functions throw where the lengths differ.',
    rounds: (kit) => [damaged(kit)],
  },
  {
    id: 'garbage',
    sends: 'bytes that are not JSON',
    expects: '401 or 400, and no 5xx',
    advice: 'Check the signature before you parse, so that strangers reach no more code than that.',
    rounds: (kit) => {
      const delivery = withHeaders(deliver(kit, eventOf(kit)), UNSIGNED)
      return [[{ ...delivery, body: Buffer.from('{"eventId": nonsense \u0000', 'utf8') }]]
    },
  },
])

/** Not the newest but the previous one is signed with nothing, where receivers hold no previous secret. */
function emptyPrevious(kit: Kit): Delivery {
  return deliver(kit, eventOf(kit), { secret: unknownSecret(), previous: '', label: 'as the previous signature' })
}

function tampered(kit: Kit): Delivery[][] {
  const event = eventOf(kit)
  const over = bytesOf(event)
  const richer = bytesOf(withData(event, { financials: { grossAmount: '5000.00', currency: 'GBP' } }))
  return [
    [deliver(kit, event, { over, body: richer, label: 'another amount' })],
    [deliver(kit, event, { over, body: Buffer.concat([over, Buffer.from(' ')]), label: 'one space more' })],
    [deliver(kit, event, { over, body: Buffer.alloc(0), label: 'no body' })],
  ]
}

function damaged(kit: Kit): Delivery[] {
  const event = eventOf(kit)
  const signature = signBody({ secret: kit.secret, body: bytesOf(event) })
  const wrong = {
    empty: '',
    'cut short': signature.slice(0, -1),
    'too long': `${signature}0`,
    'the first 8 digits': signature.slice(0, 8),
    zeros: '0'.repeat(signature.length),
  }
  return Object.entries(wrong).map(([label, value]) =>
    withHeaders(deliver(kit, event, { label }), { 'X-Service-Signature': value, 'webhook-signature': `v1,${value}` }),
  )
}
