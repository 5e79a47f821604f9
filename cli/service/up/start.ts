import { CliError } from '../../base/errors.ts'
import { onStopSignals } from '../../base/signals.ts'
import type { ServiceState } from '../../client/service-state.ts'
import { explainStart } from './explain.ts'
import { makeTeardown } from './part.ts'
import type { Teardown } from './part.ts'
import type { UpPlan, Database } from './plan.ts'
import { refuseAborted } from './plan.ts'

type RunningService = {
  state: ServiceState
  /** Stops everything in the opposite order of its start; no process is left. */
  stop(): Promise<void>
  /** Resolves with a sentence when a part ends by itself. */
  ended: Promise<string>
}

/**
 * Starts the database, brings it up to date, and runs worker, API and mock bank in this process. Resolves when everything
 * answers. What was started is stopped again when a later part fails, or when `signal` aborts.
 */
export async function startAll(plan: UpPlan, signal: AbortSignal): Promise<RunningService> {
  const teardown = makeTeardown(plan.note)
  try {
    const database = await openDatabase(plan, teardown)
    refuseAborted(signal)
    // The system itself is loaded by what runs it, and by no other command.
    const { startParts } = await import('./start-parts.ts')
    const state = await startParts({ plan, database, teardown, signal })
    return { state, stop: teardown.run, ended: database.ended }
  } catch (error) {
    await teardown.run()
    throw explainStart(error)
  }
}

/**
 * Runs everything in this process until a signal asks it to stop. `onReady` is called once, when everything answers.
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
    if (problem !== undefined) throw new CliError('PART_ENDED', problem, { hint: 'svc up' })
    plan.note('Stopped.')
  } finally {
    release()
  }
}

/** Takes the state directory for this process and makes a database available: our own, or one from outside. */
async function openDatabase(plan: UpPlan, teardown: Teardown): Promise<Database> {
  const { database } = plan
  return database.kind === 'embedded' ? openEmbedded(plan, teardown) : openOutside(plan, database.url, teardown)
}

async function openEmbedded(plan: UpPlan, teardown: Teardown): Promise<Database> {
  const [{ startEmbedded }, { prepareStateDirectory }] = await Promise.all([
    import('../../../src/db/embedded.ts'),
    import('../../../src/db/state-directory.ts'),
  ])
  const stateDir = prepareStateDirectory(plan.stateDir)
  const disposable = plan.disposable === true
  const server = await startEmbedded({ stateDir, log: plan.note, disposable, restarts: !disposable })
  teardown.add('The database', server.stop)
  const ended = server.exited.then(
    () => 'the database ended by itself, and does not start again; see postgres.log in the state directory',
  )
  const env = { ...withoutDatabase(plan.env), SVC_DATABASE_URL: server.url }
  return { env, stateDir, ended }
}

async function openOutside(plan: UpPlan, url: string | undefined, teardown: Teardown): Promise<Database> {
  const { lockStateDirectory, prepareStateDirectory } = await import('../../../src/db/state-directory.ts')
  const stateDir = prepareStateDirectory(plan.stateDir)
  teardown.add('The state directory', lockStateDirectory(stateDir))
  const env = url === undefined ? plan.env : { ...withoutDatabase(plan.env), SVC_DATABASE_URL: url }
  return { env, stateDir, ended: new Promise(() => undefined) }
}

/** The environment's own database does not count when the flag names another. */
function withoutDatabase(env: NodeJS.ProcessEnv): NodeJS.ProcessEnv {
  const names = ['SVC_DATABASE_URL', 'SVC_MIGRATION_DATABASE_URL'].flatMap((name) => [name, `${name}_FILE`])
  return Object.fromEntries(Object.entries(env).filter(([name]) => !names.includes(name)))
}
