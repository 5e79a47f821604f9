import { CliError } from '../../base/errors.ts'
import { EXIT } from '../../base/exit-codes.ts'
import type { ServiceState } from '../../client/service-state.ts'
import type { UpPlan } from './plan.ts'
import { onStopSignals } from '../../base/signals.ts'
import { startAll } from './start.ts'

/**
 * Runs everything in this process until a signal asks it to stop. `onReady` is told once, when everything answers.
 * @throws {CliError} when a part ends by itself; the others are stopped first
 */
export async function runForeground(plan: UpPlan, onReady: (state: ServiceState) => Promise<void>): Promise<void> {
  const abort = new AbortController()
  const { promise: stopAsked, resolve: askStop } = Promise.withResolvers<undefined>()
  const release = onStopSignals((signal) => {
    plan.note('Stopping. Once more to stop at once.')
    abort.abort(signal)
    askStop(undefined)
  })
  try {
    const running = await startAll(plan, abort.signal)
    // What is done then ends where the service is asked to end meanwhile.
    await Promise.race([onReady(running.state), stopAsked, running.ended])
    const problem = await Promise.race([stopAsked, running.ended])
    await running.stop()
    if (problem !== undefined) throw new CliError('PART_ENDED', problem, { exit: EXIT.failure, hint: 'svc up' })
    plan.note('Stopped.')
  } finally {
    release()
  }
}
