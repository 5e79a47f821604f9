import { CliError } from '../../base/errors.ts'
import { DANGEROUS } from '../../kit/change.ts'
import { command } from '../../kit/command.ts'
import type { Context } from '../../kit/context.ts'
import { planReset, resetSandbox } from '../../service/up/down.ts'
import type { ResetPlan } from '../../service/up/down.ts'
import { explainStart } from '../../service/up/explain.ts'

const WORD = 'reset'

/**
 * `svc sandbox reset`: starts again. Rows of a trail whose hashes are chained can't be taken out of it, so the database
 * goes as a whole. Asks in the sandbox too, for nothing brings it back.
 */
export const reset = command({
  command: 'sandbox reset',
  summary: 'Stop the service and delete its database',
  details: 'Deletes merchants, payments and the audit trail of the state directory.',
  examples: ['svc sandbox reset --dry-run', 'svc sandbox reset --yes && svc up --seed demo'],
  flags: { ...DANGEROUS },
  async run(context, input) {
    const plan = await planReset(context.stateDir)
    if (input.dryRun) {
      print(context, plan, { dry_run: true, was_running: null })
      context.note('Nothing was changed.')
      return undefined
    }
    if (!input.yes) await confirm(context, plan)
    const wasRunning = await resetSandbox(plan, context.note).catch((error: unknown) =>
      Promise.reject(explainStart(error)),
    )
    print(context, plan, { dry_run: false, was_running: wasRunning })
    if (!context.print.isMachine) context.note('Next: svc up, or svc up --seed demo')
  },
})

type ResetOutcome = { dry_run: boolean; was_running: boolean | null }

function print(context: Context, { stateDir, dataDirectory }: ResetPlan, outcome: ResetOutcome): void {
  context.print.record(
    { ...outcome, state_dir: stateDir, removed: dataDirectory },
    [
      [outcome.dry_run ? 'Would remove' : 'Removed', dataDirectory],
      ['Stopped', outcome.was_running === true ? 'the service of it' : ''],
      ['Kept', `keys and port, in ${stateDir}`],
    ],
    { id: stateDir },
  )
}

async function confirm({ io }: Context, { dataDirectory }: ResetPlan): Promise<void> {
  if (!io.stdin.isTTY || !io.stderr.isTTY)
    throw new CliError('CONFIRMATION_NEEDED', `this would remove ${dataDirectory} with everything in it`, {
      hint: 'svc sandbox reset --yes',
    })
  io.stderr.write(`This will remove ${dataDirectory} with everything in it.\nType ${WORD} to go on: `)
  if ((await io.stdin.readLine())?.trim() === WORD) return
  throw new CliError('NOT_CONFIRMED', 'not confirmed, so nothing was removed')
}
