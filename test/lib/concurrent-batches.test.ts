import t from 'tap'
import { makeConcurrentBatches } from '../../src/lib/concurrent-batches.ts'
import type { Batch } from '../../src/lib/concurrent-batches.ts'

/** A job over numbers, whose work on each ends when it is let go. */
function makeJob() {
  const letGo = new Map<number, () => void>()
  const limits: number[] = []
  const errors: unknown[] = []
  let due: number[] = []
  const round: Batch<number> = {
    limit: 2,
    async claim(limit) {
      limits.push(limit)
      return due.splice(0, limit)
    },
    work: (item) => new Promise<void>((resolve) => letGo.set(item, resolve)),
    failed: (error) => void errors.push(error),
    signal: undefined,
  }
  return { letGo, limits, errors, round, comes: (...items: number[]) => void (due = [...due, ...items]) }
}

t.test('slow work is kept, up to two rounds of it, and more is claimed only while there is room', async (t) => {
  const { letGo, limits, round, comes } = makeJob()
  const play = makeConcurrentBatches<number>()
  const owner = {}
  const { signal } = new AbortController()
  comes(1, 2, 3, 4, 5, 6)
  for (let rounds = 0; rounds < 2; rounds += 1) t.same(await play(owner, { ...round, signal }), { more: true })
  t.same(await play(owner, { ...round, signal }), { more: true }, 'with four in progress no more are claimed')
  t.same(limits, [2, 2])
  letGo.get(1)?.()
  await play(owner, { ...round, signal })
  t.same(limits, [2, 2, 1])
  t.same([...letGo.keys()], [1, 2, 3, 4, 5])
})

t.test('an ending run claims nothing more and waits for work in progress, also after a failed claim', async (t) => {
  const { letGo, limits, round, comes } = makeJob()
  const play = makeConcurrentBatches<number>()
  const owner = {}
  const stop = new AbortController()
  comes(1)
  await play(owner, { ...round, signal: stop.signal })
  const broken = { ...round, signal: stop.signal, claim: () => Promise.reject(new Error('no database')) }
  await t.rejects(play(owner, broken), { message: 'no database' })
  stop.abort()
  comes(2)
  const order: string[] = []
  const last = play(owner, { ...round, signal: stop.signal }).then((result) => {
    order.push('ended')
    return result
  })
  setTimeout(() => {
    order.push('answered')
    letGo.get(1)?.()
  }, 20)
  t.same(await last, { more: false })
  t.same(order, ['answered', 'ended'])
  t.same(limits, [2], 'due work is left to the next process')
})

t.test(
  'without a signal a batch waits for all claimed items; an error of one is reported and stops no other',
  async (t) => {
    const { letGo, errors, round, comes } = makeJob()
    comes(1, 2)
    const work = (item: number): Promise<void> => (item === 1 ? Promise.reject(new Error('one')) : round.work(item))
    const playing = makeConcurrentBatches<number>()({}, { ...round, work })
    setTimeout(() => letGo.get(2)?.(), 10)
    t.same(await playing, { more: true })
    t.match(errors, [{ message: 'one' }])
  },
)
