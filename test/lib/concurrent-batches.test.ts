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

/** A job over items such as `a3`, whose lane is the letter; work on those of a lane that hangs ends when it is let go. */
function makeLanes(limit: number) {
  const released = Promise.withResolvers<void>()
  const hanging = new Set<string>()
  const held: string[] = []
  const claims: { limit: number; full: string[] }[] = []
  let due: string[] = []
  const laneOf = (item: string): string => item.charAt(0)
  const batch: Batch<string> = {
    limit,
    claim: async (most, full) => {
      claims.push({ limit: most, full: full.toSorted() })
      const claimed = due.filter((item) => !full.includes(laneOf(item))).slice(0, most)
      due = due.filter((item) => !claimed.includes(item))
      return claimed
    },
    laneOf,
    work: async (item) => {
      if (!hanging.has(laneOf(item))) return
      held.push(item)
      await released.promise
    },
    failed: (error) => {
      throw error
    },
    signal: new AbortController().signal,
  }
  const comes = (lane: string, count: number): void => {
    due.push(...Array.from({ length: count }, (_, index) => `${lane}${index}`))
  }
  return { batch, claims, held, hanging, comes, left: () => due.map(laneOf), letGo: () => released.resolve() }
}

t.test('a lane that hangs holds half of the slots, a second one half of the rest, and others find some', async (t) => {
  const { batch, claims, held, hanging, comes, left } = makeLanes(8)
  const play = makeConcurrentBatches<string>()
  const owner = {}
  for (const lane of ['a', 'b']) {
    hanging.add(lane)
    comes(lane, 100)
    for (let rounds = 0; rounds < 3; rounds += 1) t.same(await play(owner, batch), { more: true })
  }
  t.same(claims.at(-1), { limit: 2, full: ['a', 'b'] })
  t.same([held.filter((item) => item.startsWith('a')).length, held.length], [8, 12])
  comes('c', 5)
  for (let rounds = 0; rounds < 3; rounds += 1) await play(owner, batch)
  t.notOk(left().includes('c'), 'all of another lane are done')
  t.equal(held.length, 12)
})

t.test('whatever comes and hangs, no lane takes more slots than it leaves free', async (t) => {
  for (const order of ['abcdef', 'aaaaab', 'abcabc']) {
    const { batch, held, hanging, comes } = makeLanes(8)
    const play = makeConcurrentBatches<string>()
    const owner = {}
    const countOf = (lane: string): number => held.filter((item) => item.startsWith(lane)).length
    for (const lane of order) {
      hanging.add(lane)
      comes(lane, 7)
      const before = new Map([...hanging].map((each) => [each, countOf(each)]))
      await play(owner, batch)
      const free = 16 - held.length
      t.ok(free >= 1, `${order}: ${free} are free`)
      for (const [each, count] of before)
        t.ok(
          countOf(each) === count || countOf(each) <= free,
          `${order}: ${countOf(each)} of ${each}, ${free} are free`,
        )
    }
  }
})

t.test('what is due of a full lane is claimed at once where its work has ended meanwhile', async (t) => {
  const { batch, hanging, comes, left, letGo } = makeLanes(8)
  const play = makeConcurrentBatches<string>()
  const owner = {}
  hanging.add('a')
  comes('a', 20)
  await play(owner, batch)
  const claim: typeof batch.claim = async (limit, full) => {
    letGo()
    return batch.claim(limit, full)
  }
  t.same(await play(owner, { ...batch, claim }), { more: true }, 'it was full when others were claimed')
  t.equal(left().length, 12)
  while ((await play(owner, batch)).more) continue
  t.same(left(), [])
})
