import type { Teardown } from './teardown.ts'
import type { UpPlan } from './plan.ts'

export type Database = {
  /** The environment of the service, with the database filled in. */
  env: NodeJS.ProcessEnv
  /** The real path of the state directory. */
  stateDir: string
  /** Resolves with a sentence when our own database ends without being asked; never for an outside one. */
  ended: Promise<string>
}

/** Takes the state directory for this process and makes a database available: our own, or one from outside. */
export async function openDatabase(plan: UpPlan, teardown: Teardown): Promise<Database> {
  const { database } = plan
  return database.kind === 'embedded' ? openEmbedded(plan, teardown) : openOutside(plan, database.url, teardown)
}

async function openEmbedded(plan: UpPlan, teardown: Teardown): Promise<Database> {
  const [{ startEmbedded }, { prepareStateDirectory }] = await Promise.all([
    import('../../../src/db/embedded.ts'),
    import('../../../src/db/state-directory.ts'),
  ])
  const stateDir = prepareStateDirectory(plan.stateDir)
  const server = await startEmbedded({ stateDir, log: plan.note, disposable: plan.disposable === true })
  teardown.add('The database', server.stop)
  const ended = server.exited.then(() => 'the database ended by itself; see postgres.log in the state directory')
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
