import { readFileSync } from 'node:fs'

/*
 * Loaded before a process of the service: moves its clock by as many milliseconds as the file has that SVC_CHAOS_CLOCK names.
 * Timers, which don't read the clock, go on as they were, as when an operator sets the time of a machine.
 */
const RealDate = Date
const LOOK_MS = 100
let shiftMs = 0

function look() {
  try {
    shiftMs = Number(readFileSync(process.env.SVC_CHAOS_CLOCK, 'utf8'))
  } catch {
    // The run is over, and its files are gone.
  }
}

look()
setInterval(look, LOOK_MS).unref()

const now = () => RealDate.now() + shiftMs
globalThis.Date = new Proxy(RealDate, {
  get: (target, key, receiver) => (key === 'now' ? now : Reflect.get(target, key, receiver)),
  apply: () => new RealDate(now()).toString(),
  construct: (target, values, newTarget) =>
    Reflect.construct(target, values.length === 0 ? [now()] : values, newTarget),
})
