import type { Command } from 'commander'
import { z } from 'zod'
import { action } from '../kit/context.ts'
import type { CommandInput, CommandResult, Context, Runtime } from '../kit/context.ts'
import { runPart } from './up/part.ts'

export function addServe(command: Command, runtime: Runtime): void {
  command
    .addHelpText('after', '\nExamples:\n  SVC_DATABASE_URL=postgres://... SVC_ENCRYPTION_KEY=... svc serve\n')
    .action(action(runtime, z.object({}), serve))
}

async function serve(context: Context, _input: CommandInput<object>): Promise<CommandResult> {
  await runPart(context.io.env, context.note, async (app) => {
    const { startApi } = await import('../../src/api.ts')
    const api = await startApi(app)
    return { what: `The API listens on ${api.url}.`, stop: api.stop }
  })
  return undefined
}
