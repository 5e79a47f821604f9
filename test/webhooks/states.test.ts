import fc from 'fast-check'
import t from 'tap'
import { next, terminalStates } from '../../src/lib/machine.ts'
import { DELIVERY_TRANSITIONS, attemptDelaysMs, attemptsMax, nextDelayMs } from '../../src/webhooks/states.ts'

t.test("the schedule is the contract's: 0, 1 min, 5 min, 30 min, 2 h, 6 h", async (t) => {
  t.strictSame(
    attemptDelaysMs.map((ms) => ms / 60_000),
    [0, 1, 5, 30, 120, 360],
  )
  t.equal(attemptsMax, 6)
  t.strictSame(
    [1, 2, 3, 4, 5].map((attempt) => nextDelayMs(attempt, 0.5)),
    attemptDelaysMs.slice(1),
  )
})

t.test('every delay lies within a fifth of the schedule, and reaches both ends', async (t) => {
  fc.assert(
    fc.property(
      fc.integer({ min: 1, max: 5 }),
      fc.double({ min: 0, max: 1, maxExcluded: true, noNaN: true }),
      (attempt, random) => {
        const planned = attemptDelaysMs[attempt] ?? 0
        const delay = nextDelayMs(attempt, random) ?? -1
        return delay >= planned * 0.8 && delay <= planned * 1.2
      },
    ),
  )
  t.equal(nextDelayMs(1, 0), 48_000)
  t.equal(nextDelayMs(1, 0.999999999), 72_000)
})

t.test('nothing follows the sixth attempt', async (t) => t.equal(nextDelayMs(6, 0.5), null))

t.test('the time scale divides the delays', async (t) => t.equal(nextDelayMs(2, 0.5, 1_000), 300))

t.test('only DEAD is replayed, and DELIVERED is final', async (t) => {
  t.equal(next(DELIVERY_TRANSITIONS, 'DEAD', 'replay')?.to, 'PENDING')
  for (const status of ['PENDING', 'FAILED', 'DELIVERED'] as const)
    t.equal(next(DELIVERY_TRANSITIONS, status, 'replay'), undefined, status)
  for (const on of ['delivered', 'failed', 'failed for the last time'] as const) {
    t.equal(next(DELIVERY_TRANSITIONS, 'DELIVERED', on), undefined)
    t.equal(next(DELIVERY_TRANSITIONS, 'DEAD', on), undefined)
  }
  t.equal(
    next(DELIVERY_TRANSITIONS, 'PENDING', 'failed for the last time'),
    undefined,
    'a first failure is never the last',
  )
  t.strictSame(terminalStates(DELIVERY_TRANSITIONS), ['DELIVERED'])
})
