import { signBody } from '../../../../src/lib/webhook-signature.ts'
import type { Check, Delivery } from '../check.ts'
import { bytesOf, deliver, eventOf, unknownSecret, withData, withHeaders } from '../kit.ts'
import type { Kit } from '../kit.ts'

const UNSIGNED = { 'X-Service-Signature': null, 'webhook-signature': null }

/** What must not be taken for the service's own. */
export const FORGERIES: readonly Check[] = [
  {
    id: 'unsigned',
    title: 'no signature',
    sends: 'an event without any signature header',
    expects: 'a refusal: 401',
    advice: 'Refuse what has no X-Service-Signature before anything else looks at it. Is the check switched off?',
    must: true,
    rule: 'refused',
    rounds: (kit) => [[withHeaders(deliver(kit, eventOf(kit)), UNSIGNED)]],
  },
  {
    id: 'unknown-secret',
    title: "another merchant's signature",
    sends: 'an event that is signed with a secret that you do not hold',
    expects: 'a refusal: 401',
    advice: 'That there is a signature proves nothing: compute your own over the body, and compare the two.',
    must: true,
    rule: 'refused',
    rounds: (kit) => [[deliver(kit, eventOf(kit), { secret: unknownSecret() })]],
  },
  {
    id: 'unknown-pair',
    title: 'a rotation that is not yours',
    sends: 'both X-Service-Signature and X-Service-Signature-Previous, neither made with your secret',
    expects: 'a refusal: 401',
    advice: 'Hold X-Service-Signature-Previous against your signature just as you do X-Service-Signature.',
    must: true,
    rule: 'refused',
    rounds: (kit) => [[deliver(kit, eventOf(kit), { secret: unknownSecret(), previous: unknownSecret() })]],
  },
  {
    id: 'empty-secret',
    title: 'signed with an empty secret',
    sends: 'an event whose signatures are made with an empty key, which anybody can do',
    expects: 'a refusal: 401',
    advice:
      'Somewhere a secret that is not set counts as an empty one. Do not start without it, and skip what is unset.',
    must: true,
    rule: 'refused',
    rounds: (kit) => [[deliver(kit, eventOf(kit), { secret: '' })], [emptyPrevious(kit)]],
  },
  {
    id: 'tampered',
    title: 'changed on the way',
    sends: 'an event of which an amount, a single byte or the whole body was changed after it was signed',
    expects: 'a refusal: 401',
    advice: 'Compute the HMAC over the whole body as it arrived, not over parts of it such as the eventId.',
    must: true,
    rule: 'refused',
    rounds: tampered,
  },
  {
    id: 'reserialised',
    title: 'written anew after signing',
    sends: 'the same JSON with other spaces than were signed',
    expects: 'a refusal: 401',
    advice: 'You sign JSON that you parsed and wrote again. Take the raw bytes, before any middleware parses the body.',
    must: true,
    rule: 'refused',
    rounds: (kit) => {
      const event = eventOf(kit)
      const body = Buffer.from(JSON.stringify(event, null, 2), 'utf8')
      return [[deliver(kit, event, { body, over: bytesOf(event) })]]
    },
  },
  {
    id: 'damaged-signature',
    title: 'a signature that is none',
    sends: 'signatures that are empty, cut, too long, or nothing but zeros',
    expects: 'a refusal: 401, and no 5xx',
    advice: 'Compare whole signatures of equal length only; constant-time functions throw where the lengths differ.',
    must: true,
    rule: 'refused',
    rounds: (kit) => [damaged(kit)],
  },
  {
    id: 'garbage',
    title: 'no JSON and no signature',
    sends: 'bytes that are no JSON, as anybody may send them',
    expects: 'a refusal: 401 or 400, and no 5xx',
    advice: 'Check the signature before you parse, so that strangers reach no more code than that.',
    must: true,
    rule: 'refused',
    rounds: (kit) => {
      const delivery = withHeaders(deliver(kit, eventOf(kit)), UNSIGNED)
      return [[{ ...delivery, body: [Buffer.from('{"eventId": nonsense \u0000', 'utf8')] }]]
    },
  },
]

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
