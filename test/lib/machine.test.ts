import t from 'tap'
import { CONSENT_TRANSITIONS } from '../../src/consents/states.ts'
import { canReach, mustMove, next, terminalStates, toMermaid } from '../../src/lib/machine.ts'
import { PAYMENT_TRANSITIONS } from '../../src/payments/states.ts'
import { PaymentStatus } from '../../src/wire/payments.ts'

const DOOR = [
  { from: null, on: 'build', to: 'open' },
  { from: 'open', on: 'close', to: 'closed' },
  { from: 'closed', on: 'open', to: 'open' },
  { from: 'closed', on: 'brick up', to: 'gone' },
] as const

t.test('a transition is the row of its state and trigger, and undefined without one', async (t) => {
  t.same(next(DOOR, 'open', 'close'), { from: 'open', on: 'close', to: 'closed' })
  t.equal(next(DOOR, 'open', 'open'), undefined)
  t.same(next(DOOR, null, 'build'), DOOR[0])
})

t.test('a move that must exist and does not is an error that names it', async (t) => {
  t.same(mustMove(DOOR, 'closed', 'brick up').to, 'gone')
  t.throws(() => mustMove(DOOR, 'gone' as never, 'open'), /no transition from gone on open/)
  t.throws(() => mustMove(DOOR, null, 'open'), /no transition from \(none\) on open/)
})

t.test('the end states are those that no row leaves', async (t) => {
  t.same(terminalStates(DOOR), ['gone'])
  t.same(terminalStates(PAYMENT_TRANSITIONS).toSorted(), ['Failed', 'Refunded'])
  t.same(terminalStates(CONSENT_TRANSITIONS).toSorted(), ['EXPIRED', 'REJECTED', 'REVOKED'])
})

t.test('reachability follows the rows, also through cycles', async (t) => {
  t.ok(canReach(DOOR, 'open', 'gone'))
  t.ok(canReach(DOOR, 'closed', 'closed'), 'a state reaches itself')
  t.notOk(canReach(DOOR, 'gone', 'open'))
  const reachable = PaymentStatus.options.filter((status) => canReach(PAYMENT_TRANSITIONS, 'Authorised', status))
  t.same(reachable, ['Authorised', 'Settled', 'Failed', 'Refunded'])
})

t.test('no table has two rows for one state and trigger, and every state can be reached', async (t) => {
  for (const table of [PAYMENT_TRANSITIONS, CONSENT_TRANSITIONS]) {
    const keys = table.map(({ from, on }) => `${from} ${on}`)
    t.equal(new Set(keys).size, keys.length)
  }
  for (const status of PaymentStatus.options) {
    t.ok(
      PAYMENT_TRANSITIONS.some((row) => row.from === null && canReach(PAYMENT_TRANSITIONS, row.to, status)),
      status,
    )
  }
})

t.test(
  'every move of a payment into Failed has a webhook, and moves its consent too while that still waits',
  async (t) => {
    for (const row of PAYMENT_TRANSITIONS.filter(({ to }) => to === 'Failed')) {
      t.equal(row.webhook, 'payment.failed', row.on)
      // Payments under a mandate have the mandate's consent, which lives on.
      const hasNoneToCarry = row.from === 'Authorised' || row.on === 'mandate rejection'
      t.equal(row.consent === null, hasNoneToCarry, row.on)
    }
  },
)

t.test('a machine is drawn as a Mermaid state diagram', async (t) => {
  t.equal(
    toMermaid('Door', DOOR),
    [
      '---',
      'title: Door',
      '---',
      'stateDiagram-v2',
      '  [*] --> open: build',
      '  open --> closed: close',
      '  closed --> open: open',
      '  closed --> gone: brick up',
      '  gone --> [*]',
    ].join('\n'),
  )
})
