import type { CommandInput, CommandResult, Context } from '../../kit/context.ts'
import type { ChangeOptions } from '../../kit/change.ts'
import { CliError } from '../../base/errors.ts'
import { EXIT } from '../../base/exit-codes.ts'
import { explainStart } from '../../service/up/explain.ts'
import { planReset, resetSandbox } from '../../service/up/down.ts'
import type { ResetPlan } from '../../service/up/down.ts'

const WORD = 'reset'

/**
 * `svc sandbox reset`: begins anew. Rows of a trail whose hashes are chained can't be taken out of it, so the database goes
 * as a whole. Asks in the sandbox too, for nothing brings it back.
 */
export async function reset(context: Context, { options }: CommandInput<ChangeOptions>): Promise<CommandResult> {
  const plan = await planReset(context.stateDir)
  if (options.dryRun) {
    print(context, plan, { dry_run: true, was_running: null })
    context.note('Nothing was changed.')
    return undefined
  }
  if (!options.yes) await confirm(context, plan)
  const wasRunning = await resetSandbox(plan, context.note).catch((error: unknown) =>
    Promise.reject(explainStart(error)),
  )
  print(context, plan, { dry_run: false, was_running: wasRunning })
  if (!context.print.isMachine) context.note('Next: svc up, or svc up --seed demo')
}

type Told = { dry_run: boolean; was_running: boolean | null }

function print(context: Context, { stateDir, dataDirectory }: ResetPlan, told: Told): void {
  context.print.record({
    item: { ...told, state_dir: stateDir, removed: dataDirectory },
    id: stateDir,
    lines: [
      [told.dry_run ? 'Would remove' : 'Removed', dataDirectory],
      ['Stopped', told.was_running === true ? 'the service of it' : ''],
      ['Kept', `keys and port, in ${stateDir}`],
    ],
  })
}

async function confirm({ io }: Context, { dataDirectory }: ResetPlan): Promise<void> {
  if (!io.stdin.isTTY || !io.stderr.isTTY)
    throw new CliError('CONFIRMATION_NEEDED', `this would remove ${dataDirectory} with everything in it`, {
      exit: EXIT.usage,
      hint: 'svc sandbox reset --yes',
    })
  io.stderr.write(`This will remove ${dataDirectory} with everything in it.\nType ${WORD} to go on: `)
  if ((await io.stdin.readLine())?.trim() === WORD) return
  throw new CliError('NOT_CONFIRMED', 'not confirmed, so nothing was removed', { exit: EXIT.usage })
}
