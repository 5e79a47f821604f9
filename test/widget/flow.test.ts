import t from 'tap'
import fc from 'fast-check'
import { FLOW, SCREENS, START, next } from '../../widget/flow.ts'
import type { FlowEvent, Phase, State } from '../../widget/flow.ts'

const PHASES = Object.keys(FLOW) as Phase[]
const EVENTS = [...new Set(PHASES.flatMap((phase) => Object.keys(FLOW[phase])))] as FlowEvent['type'][]

/** An event as the table sees it: what comes with it is not looked at. */
function event(type: FlowEvent['type'], said: object = {}): FlowEvent {
  return { type, ...said } as unknown as FlowEvent
}

function walk(types: readonly FlowEvent['type'][]): State[] {
  const states: State[] = [START]
  for (const type of types) states.push(next(states.at(-1) ?? START, event(type)))
  return states
}

/** How far a screen is along the way; what is beside it has no place. */
const ORDER: Readonly<Partial<Record<string, number>>> = { 'ST-01': 1, 'ST-02': 2, 'ST-03': 3, 'ST-04': 4, 'ST-05': 5 }

function place(phase: Phase): number {
  return ORDER[SCREENS[phase]] ?? 0
}

t.test('every phase is reachable, and only the last has no exit', async (t) => {
  const reached = new Set<Phase>(['start'])
  for (let round = 0; round < PHASES.length; round += 1)
    for (const phase of reached) for (const to of Object.values(FLOW[phase])) reached.add(to)
  t.same([...reached].toSorted(), PHASES.toSorted())
  t.same(
    PHASES.filter((phase) => Object.keys(FLOW[phase]).length === 0),
    ['left'],
  )
})

t.test('the flow of the contract, screen by screen', async (t) => {
  const way = ['OPENED', 'CONTINUE', 'CHOOSE', 'CREATED', 'HAND_OVER', 'SETTLED'] as const
  t.same(
    walk(way).map(({ phase }) => SCREENS[phase]),
    ['START', 'ST-01', 'ST-02', 'ST-03', 'ST-03', 'ST-04', 'ST-05'],
  )
  t.same(
    walk(['OPENED_FAST', 'CREATED', 'HAND_OVER', 'SETTLED']).map(({ phase }) => SCREENS[phase]),
    ['START', 'ST-03', 'ST-03', 'ST-04', 'ST-05'],
    'the fast path starts at ST-03',
  )
  t.equal(walk(['OPENED_ASKING']).at(-1)?.phase, 'banks', 'or asks which bank the account is with')
})

t.test('a paid order is no failure, at the start or on creation', async (t) => {
  for (const way of [['PAID_BEFORE'], ['OPENED', 'CONTINUE', 'CHOOSE', 'PAID_BEFORE']] as const)
    t.equal(walk(way).at(-1)?.phase, 'paidBefore')
  t.same(Object.keys(FLOW.paidBefore), ['RETURN'])
})

t.test('nothing leads back past ST-03 except to a new payment', async (t) => {
  const back = PHASES.flatMap((from) =>
    Object.entries(FLOW[from])
      .filter(([, to]) => place(from) >= 3 && place(to) > 0 && place(to) < place(from))
      .map(([type, to]) => `${from} ${type} ${to}`),
  )
  t.same(back, ['switching CANCELLED banks', 'failed RETRY banks'])
})

t.test('no cancelling while the bank decides or after success', async (t) => {
  t.same(
    PHASES.filter((phase) => FLOW[phase].CANCEL !== undefined),
    ['consent', 'banks', 'handover', 'failed'],
  )
})

t.test("a late cancel continues to the bank's result", async (t) => {
  const before = walk(['OPENED', 'CONTINUE', 'CHOOSE', 'CREATED', 'CANCEL'])
  t.equal(before.at(-1)?.phase, 'cancelling')
  t.equal(next(before.at(-1) ?? START, event('TOO_LATE')).phase, 'processing')
  t.equal(next(before.at(-1) ?? START, event('CANCELLED')).phase, 'left')
})

t.test('another bank can be chosen until the payer has approved, and the bank may be faster', async (t) => {
  t.same(
    PHASES.filter((phase) => FLOW[phase].OTHER_BANK !== undefined),
    ['handover', 'processing', 'waiting'],
  )
  const before = walk(['OPENED', 'CONTINUE', 'CHOOSE', 'CREATED', 'HAND_OVER', 'OTHER_BANK']).at(-1) ?? START
  t.equal(before.phase, 'switching')
  t.equal(next(before, event('TOO_LATE')).phase, 'processing')
  const said = { bank: { id: 'one' }, payment: { payment_id: 'p' }, seen: { status: 'AwaitingAuthorisation' } }
  t.same(next({ ...before, ...said } as unknown as State, event('CANCELLED')), { phase: 'banks' }, 'a new attempt')
})

t.test('no order of events leads a payer back past the bank', async () => {
  fc.assert(
    fc.property(fc.array(fc.constantFrom(...EVENTS), { maxLength: 60 }), (types) => {
      const states = walk(types)
      states.slice(1).forEach((state, index) => {
        const before = states[index] ?? START
        const isRetry = ['failed', 'switching'].includes(before.phase) && state.phase === 'banks'
        const isBack = place(before.phase) >= 3 && place(state.phase) > 0 && place(state.phase) < place(before.phase)
        if (isBack && !isRetry) throw new Error(`${before.phase} to ${state.phase} by ${types[index]}`)
        if (before.phase === 'left' && state !== before) throw new Error('it went on after its end')
        if (FLOW[before.phase][types[index] ?? 'RELOAD'] === undefined && state !== before) throw new Error('no row')
      })
    }),
    { numRuns: 1_000 },
  )
})

t.test("a new attempt starts without the previous one's data", async (t) => {
  const said = { checkout: { amount: '1.00' }, banks: [{ id: 'one' }] }
  let state = next(START, event('OPENED', said))
  state = next(state, event('CONTINUE'))
  state = next(state, event('CHOOSE', { bank: { id: 'one' } }))
  state = next(state, event('CREATED', { payment: { payment_id: 'p' } }))
  state = next(state, event('FAILED', { failure: 'BANK_ERROR', seen: { status: 'Failed' } }))
  t.match(state, { phase: 'failed', failure: 'BANK_ERROR', payment: { payment_id: 'p' } })
  t.same(next(state, event('RETRY')), { ...said, phase: 'banks' })
})
