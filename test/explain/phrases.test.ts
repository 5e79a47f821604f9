import t from 'tap'
import { ACTIONS, PHRASES, phraseOf } from '../../src/explain/phrases.ts'
import type { Facts } from '../../src/explain/phrases.ts'

/** The facts of all rows together, and the slots of a payment. */
const FACTS: Facts = {
  amount: '50.0000',
  currency: 'GBP',
  failure_code: 'ACCOUNT_CLOSED',
  changed_by: 'PAYER',
  reason: 'OTHER',
  event_type: 'payment.settled',
  event_id: 'evt_1',
  held: 'paused',
  attempt: 2,
  attempt_count: 1,
  outcome: 'delivered',
  http_status: 204,
  duration_ms: 9,
  bank: 'model',
  step: 'consent',
  verdict: 'C_HASH_MISMATCH',
  interaction_id: '93bac548-d2de-4546-b106-880a5018460d',
  was: null,
  now: '3600000',
}
const OWN: Facts = { split: 'its split', gross: '50.00 GBP', failure: 'its failure', canceller: 'its canceller' }

t.test('every slot of every phrase has a value', async (t) => {
  for (const [kind, phrases] of Object.entries(PHRASES)) {
    const own = kind === 'payment' ? OWN : {}
    for (const what of Object.keys(phrases)) t.match(phraseOf(kind, what, FACTS, own), /^[^{}]{4,}$/, `${kind} ${what}`)
  }
  for (const what of Object.keys(ACTIONS)) t.match(phraseOf('operator', what, FACTS), /^an operator [^{}]{4,}$/, what)
})

t.test('a slot without a value is an error, and an action without a phrase is named', async (t) => {
  t.throws(() => phraseOf('webhook', 'event', { event_type: 'payment.settled' }), /no event_id for the phrase/)
  t.equal(phraseOf('merchant', 'team.invite', FACTS), 'the merchant performed team.invite')
  t.equal(phraseOf('operator', 'merchant.kyb', { was: 'PENDING', now: null }), 'an operator set KYB to another status')
})

t.test('phrases differ with the facts', async (t) => {
  const attempt = { ...FACTS, outcome: 'timeout' }
  t.match(phraseOf('attempt', 'first', attempt), /^attempt 2 of 6: .*, after 9 ms$/)
  t.equal(
    phraseOf('attempt', 'first', { ...FACTS, http_status: null }),
    'attempt 2 of 6: delivered with HTTP 2xx, after 9 ms',
  )
  t.equal(
    phraseOf('due', 'refund', FACTS),
    'the bank is asked to refund 50.00 GBP (1 request without an answer so far)',
  )
  t.equal(phraseOf('due', 'refund', { ...FACTS, attempt_count: 0 }), 'the bank is asked to refund 50.00 GBP')
  t.match(phraseOf('payout', 'FAILED', { ...FACTS, failure_code: null }), /failed: no reason is recorded;/)
  t.equal(phraseOf('merchant', 'sandbox.clock', { now: null }), 'the merchant advanced the sandbox clock')
})
