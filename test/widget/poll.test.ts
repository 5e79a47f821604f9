import t from 'tap'
import { POLL_EVERY_MS, POLL_MAX_MS, poll } from '../../widget/poll.ts'
import type { Timers } from '../../widget/poll.ts'

/** A clock that is turned by hand. */
function byHand(): { timers: Timers; tick(): void; isRunning(): boolean } {
  let run: (() => void) | undefined
  const timers: Timers = {
    every: (given, ms) => {
      if (ms !== POLL_EVERY_MS) throw new Error(`every ${ms} ms`)
      run = given
      return 1
    },
    stop: () => (run = undefined),
  }
  return { timers, tick: () => run?.(), isRunning: () => run !== undefined }
}

const settled = (): Promise<void> => new Promise((resolve) => setImmediate(resolve))

t.test('polls every 2.5 seconds for two minutes, then reports the end', async (t) => {
  const { timers, tick, isRunning } = byHand()
  let looks = 0
  let ends = 0
  const check = async (): Promise<void> => void (looks += 1)
  poll({ check, maxMs: POLL_MAX_MS, onEnd: () => (ends += 1) }, timers)
  for (let second = 0; second < 200; second += 2.5) {
    tick()
    await settled()
  }
  t.same([looks, ends, isRunning()], [47, 1, false])
})

t.test('a slow response delays the next poll but not the end', async (t) => {
  const { timers, tick, isRunning } = byHand()
  const open: (() => void)[] = []
  poll({ check: () => new Promise<void>((resolve) => open.push(resolve)), maxMs: 10_000 }, timers)
  tick()
  tick()
  t.equal(open.length, 1, 'one at a time')
  open[0]?.()
  await settled()
  tick()
  t.equal(open.length, 2)
  tick()
  t.equal(open.length, 2, 'none when its time is over')
  t.equal(isRunning(), false)
})

t.test('polling can be stopped', async (t) => {
  const { timers, tick } = byHand()
  let looks = 0
  poll({ check: async () => (looks += 1), maxMs: 60_000 }, timers)()
  tick()
  t.equal(looks, 0)
})
