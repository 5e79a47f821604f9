import type { Command } from 'commander'
import { z } from 'zod'
import { CliError } from '../base/errors.ts'
import { EXIT } from '../base/exit-codes.ts'
import { action } from '../kit/context.ts'
import type { CommandResult, Context, InputOf, Runtime } from '../kit/context.ts'
import { runPart, withApp } from './up/part.ts'

export function addWorker(command: Command, runtime: Runtime): void {
  command
    .option('--once', 'Run the jobs that are due, and exit: 1 if one failed, 8 without a database')
    .option('--concurrency <count>', 'Concurrent webhook deliveries (SVC_WEBHOOK_CONCURRENCY)')
    .addHelpText(
      'after',
      '\nExamples:\n  SVC_DATABASE_URL=postgres://... SVC_ENCRYPTION_KEY=... svc worker\n  svc worker --concurrency 32\n  svc worker --once                   from cron, where no worker may stay\n',
    )
    .action(action(runtime, WorkerOptions, worker))
}

const WorkerOptions = z.object({
  once: z.boolean().default(false),
  concurrency: z
    .string()
    .regex(/^[1-9]\d{0,3}$|^10000$/, 'must be a whole number from 1 to 10000')
    .optional(),
})

async function worker(
  context: Context,
  { options: { once, concurrency } }: InputOf<typeof WorkerOptions>,
): Promise<CommandResult> {
  const { env } = context.io
  const given = concurrency === undefined ? env : { ...env, SVC_WEBHOOK_CONCURRENCY: concurrency }
  if (once) return workOnce(context, given)
  await runPart(given, context.note, async (app) => {
    const [{ startWorker }, { listenForProbes }] = await Promise.all([
      import('../../src/worker.ts'),
      import('../../src/observe/probes.ts'),
    ])
    const probes = await listenForProbes(app)
    const running = startWorker(app)
    return {
      what: probes === undefined ? 'The worker runs.' : `The worker runs; ${probes.url} has its probes and metrics.`,
      stop: async () => {
        await running.stop()
        await probes?.stop()
      },
    }
  })
}

function databaseAway(cause: unknown): CliError {
  return new CliError('DATABASE_AWAY', 'the database did not answer for half a minute: what is due is not known', {
    exit: EXIT.network,
    hint: 'what is wrong with it: svc doctor --only database\nonce it answers: svc worker --once',
    retryable: true,
    cause,
  })
}

async function workOnce(context: Context, env: NodeJS.ProcessEnv): Promise<CommandResult> {
  const failed = await withApp(env, async (app) => {
    const [{ workOnce: doDue }, { isDatabaseUnavailable }] = await Promise.all([
      import('../../src/worker.ts'),
      import('../../src/db/is-database-unavailable.ts'),
    ])
    return doDue(app).catch((error: unknown) => {
      throw isDatabaseUnavailable(error) ? databaseAway(error) : error
    })
  })
  context.print.record({
    item: { failed },
    id: failed.join('\n'),
    lines: [
      ['Done', failed.length === 0 ? 'what was due' : 'what was due, but for what failed'],
      ['Failed', failed.join(', ')],
    ],
  })
  return failed.length === 0 ? EXIT.ok : EXIT.failure
}

export function addServe(command: Command, runtime: Runtime): void {
  command
    .addHelpText('after', '\nExamples:\n  SVC_DATABASE_URL=postgres://... SVC_ENCRYPTION_KEY=... svc serve\n')
    .action(action(runtime, z.object({}), serve))
}

async function serve(context: Context): Promise<CommandResult> {
  await runPart(context.io.env, context.note, async (app) => {
    const [{ startApi }, { NO_BANK }] = await Promise.all([import('../../src/api.ts'), import('../../src/app.ts')])
    const api = await startApi(app)
    const listening = `The API listens on ${api.url}.`
    const hasBank = app.catalogue.list.length > 0
    return { what: hasBank ? listening : `${listening}\nBut ${NO_BANK}.`, stop: api.stop }
  })
}
