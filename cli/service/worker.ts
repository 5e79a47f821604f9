import type { App } from '../../src/app.ts'
import { CliError } from '../base/errors.ts'
import { EXIT } from '../base/exit-codes.ts'
import { command } from '../kit/command.ts'
import type { CommandResult, Context } from '../kit/context.ts'
import { matching } from '../kit/read-values.ts'
import { runPart, withApp } from './up/part.ts'

export const worker = command({
  command: 'worker',
  summary: 'Run the worker alone',
  examples: [
    'SVC_DATABASE_URL=postgres://... SVC_ENCRYPTION_KEY=... svc worker',
    'svc worker --concurrency 32',
    'svc worker --once                   from cron, where no worker may stay',
  ],
  flags: {
    once: { summary: 'Run the jobs that are due, and exit: 1 if one failed, 8 without a database' },
    concurrency: {
      value: 'count',
      summary: 'Concurrent webhook deliveries (SVC_WEBHOOK_CONCURRENCY)',
      read: matching(/^([1-9]\d{0,3}|10000)$/, 'must be a whole number from 1 to 10000'),
    },
  },
  async run(context, { once, concurrency }) {
    const { env } = context.io
    const given = concurrency === undefined ? env : { ...env, SVC_WEBHOOK_CONCURRENCY: concurrency }
    if (once) return workOnce(context, given)
    await runPart(given, context.note, startPart, { applicationName: 'svc worker' })
  },
})

async function startPart(app: App): Promise<{ what: string; stop(): Promise<void> }> {
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
}

function databaseAway(cause: unknown): CliError {
  return new CliError('DATABASE_AWAY', 'the database did not answer for half a minute: what is due is not known', {
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
  context.print.record(
    { failed },
    [
      ['Done', failed.length === 0 ? 'what was due' : 'what was due, but for what failed'],
      ['Failed', failed.join(', ')],
    ],
    { id: failed.join('\n') },
  )
  return failed.length === 0 ? EXIT.ok : EXIT.failure
}

export const serve = command({
  command: 'serve',
  summary: 'Run the API alone',
  examples: ['SVC_DATABASE_URL=postgres://... SVC_ENCRYPTION_KEY=... svc serve'],
  flags: {},
  async run(context) {
    await runPart(context.io.env, context.note, async (app) => {
      const [{ startApi }, { NO_BANK }] = await Promise.all([import('../../src/api.ts'), import('../../src/app.ts')])
      const api = await startApi(app)
      const listening = `The API listens on ${api.url}.`
      const hasBank = app.catalogue.list.length > 0
      return { what: hasBank ? listening : `${listening}\nBut ${NO_BANK}.`, stop: api.stop }
    })
  },
})
