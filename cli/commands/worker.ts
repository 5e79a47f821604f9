import type { Command } from 'commander'
import { z } from 'zod'
import { action } from '../context.ts'
import type { CommandInput, CommandResult, Context, Runtime } from '../context.ts'
import { runPart } from '../up/part.ts'

export function addWorker(program: Command, runtime: Runtime): void {
  program
    .command('worker')
    .description('run the worker alone, configured by the environment; any number may run')
    .addHelpText('after', '\nExamples:\n  SVC_DATABASE_URL=postgres://... SVC_ENCRYPTION_KEY=... svc worker\n')
    .action(action(runtime, z.object({}), worker))
}

async function worker(context: Context, _input: CommandInput<object>): Promise<CommandResult> {
  await runPart(context.io.env, context.note, async (app) => {
    const { startWorker } = await import('../../src/worker.ts')
    return { what: 'The worker runs.', stop: startWorker(app).stop }
  })
  return undefined
}
