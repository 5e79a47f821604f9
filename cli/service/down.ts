import type { Command } from 'commander'
import { z } from 'zod'
import { action } from '../kit/context.ts'
import type { CommandInput, CommandResult, Context, Runtime } from '../kit/context.ts'
import { stopService } from './up/down.ts'
import { explained } from './up/explain.ts'

export function addDown(command: Command, runtime: Runtime): void {
  command
    .addHelpText('after', '\nExamples:\n  svc down\n  svc down --state-dir /tmp/shop\n')
    .action(action(runtime, z.object({}), down))
}

async function down(context: Context, _input: CommandInput<object>): Promise<CommandResult> {
  const result = await explained(() => stopService(context.stateDir, context.note))
  const leftover =
    result.leftover_pid === null ? '' : `process ${result.leftover_pid}, left behind by a service that was killed`
  context.print.record({
    item: { stopped: result.pid !== null || result.leftover_pid !== null, ...result },
    id: String(result.pid ?? ''),
    lines: [
      [
        'Stopped',
        result.pid === null ? (leftover === '' ? 'nothing: no service was running' : '') : `process ${result.pid}`,
      ],
      ['Database', leftover],
    ],
  })
  return undefined
}
