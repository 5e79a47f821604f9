import type { Test } from 'tap'
import type { SteeredBank } from './steered-bank.ts'

type Proof = {
  bank: SteeredBank
  /** The calls that the bank delays. */
  call: Parameters<SteeredBank['steer']>[0]
  job(signal?: AbortSignal): Promise<{ more: boolean }>
  /** Makes something that the job is to bring to its end now. */
  begin(): Promise<string>
  isDone(id: string): Promise<boolean>
}

/** Holds the bank's answer to one of two, and sees the job bring the other to its end, and end with the first. */
export async function provesNoneWaits(t: Test, { bank, call, job, begin, isDone }: Proof): Promise<void> {
  await job()
  const slow = await begin()
  const held = Promise.withResolvers<void>()
  bank.steer(call, async (answer) => {
    bank.steer(call, undefined)
    await held.promise
    return answer()
  })
  const stop = new AbortController()
  t.same(await job(stop.signal), { more: true }, 'it has something in hand')
  const other = await begin()
  do await job(stop.signal)
  while (!(await isDone(other)))
  t.notOk(await isDone(slow), 'the bank holds it')
  let isEnded = false
  const last = job(stop.signal).then(() => (isEnded = true))
  stop.abort()
  await new Promise((resolve) => setImmediate(resolve))
  t.notOk(isEnded, 'a process that stops waits for it')
  held.resolve()
  await last
  t.ok(await isDone(slow))
}
