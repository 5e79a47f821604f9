import { merchantOf } from './case-run.ts'
import type { CaseRun } from './case-run.ts'

/**
 * Plays a step as another merchant of the case, by its name. `$merchant` is that one in it, and what the step changes of
 * it, such as its signing secret, is kept.
 * @throws {StepFailure} where there is no such merchant
 */
export async function playAs(
  run: CaseRun,
  reference: string | undefined,
  play: (run: CaseRun) => Promise<void>,
): Promise<void> {
  const acting = merchantOf(run, reference)
  if (acting === run) return play(run)
  const { client, merchant, receiver } = acting
  const view: CaseRun = Object.assign(Object.create(run), { client, merchant, receiver })
  try {
    await play(view)
  } finally {
    acting.merchant = view.merchant
  }
}
