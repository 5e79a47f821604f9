import type { ServiceState } from '../../client/service-state.ts'
import {
  foldersOf,
  makeEphemeralFolder,
  removeAtExit,
  removeEphemeralFolder,
  sweepEphemeralFolders,
} from '../../service/up/ephemeral-folder.ts'
import type { IdentityKind } from '../../service/up/plan.ts'
import { startAll } from '../../service/up/start.ts'

/**
 * Starts everything on free ports, with a database of its own in a temporary directory, lets `use` have it, and takes
 * all of it away again, with what runs that crashed have left.
 */
export async function withEphemeralService<T>(
  options: {
    env: NodeJS.ProcessEnv
    identity: IdentityKind
    authUrl: string | undefined
    /** What its ids and its chance follow from; undefined for what no run repeats. */
    seed?: string | undefined
    /** Whether what it wrote stays, to be looked at. */
    keep?: boolean
    note: (line: string) => void
    /** What the user has to know although all went well. */
    report?: (line: string) => void
    signal: AbortSignal
  },
  use: (state: ServiceState) => Promise<T>,
): Promise<T> {
  await sweepEphemeralFolders()
  const stateDir = makeEphemeralFolder({ isKept: options.keep === true })
  try {
    const plan = {
      stateDir,
      port: 0,
      database: { kind: 'embedded' },
      identity: options.identity,
      authUrl: options.authUrl,
      seed: options.seed,
      disposable: true,
      env: ownEnvironment(options),
      logLevel: 'warn',
      note: options.note,
    } as const
    const running = await startAll(plan, options.signal)
    const release = options.keep === true ? () => undefined : removeAtExit(stateDir)
    try {
      return await use(running.state)
    } finally {
      await running.stop()
      release()
    }
  } finally {
    if (options.keep === true)
      options.report?.(
        `the data stays: svc up --state-dir ${stateDir}\nto delete it: rm -r ${foldersOf(stateDir).join(' ')}`,
      )
    else removeEphemeralFolder(stateDir)
  }
}

const OF_KEYCLOAK = /^SVC_(AUTH_URL|KEYCLOAK_CLIENT_(ID|SECRET))(_FILE)?$/

/**
 * A service for one run is a plain sandbox, whatever the environment says of another, but for the Keycloak that it is to
 * use; it holds mandates to their caps, so that scenarios can test them, and logs only errors.
 */
function ownEnvironment({ env, identity }: { env: NodeJS.ProcessEnv; identity: IdentityKind }): NodeJS.ProcessEnv {
  const kept = Object.entries(env).filter(
    ([name]) => !name.startsWith('SVC_') || (identity === 'keycloak' && OF_KEYCLOAK.test(name)),
  )
  const ours = { SVC_VRP_CAPS: env['SVC_VRP_CAPS'] || 'enforce', SVC_LOG_LEVEL: env['SVC_LOG_LEVEL'] || 'error' }
  return { ...Object.fromEntries(kept), ...ours }
}
