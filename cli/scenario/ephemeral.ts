import { existsSync, mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { z } from 'zod'
import type { ServiceState } from '../service-state.ts'
import type { IdentityKind } from '../up/plan.ts'
import { startAll } from '../up/start.ts'

/**
 * Starts everything on free ports, with a database of its own in a temporary directory, lets `use` have it, and takes
 * all of it away again.
 */
export async function withEphemeralService<T>(
  options: {
    env: NodeJS.ProcessEnv
    identity: IdentityKind
    authUrl: string | undefined
    note: (line: string) => void
    signal: AbortSignal
  },
  use: (state: ServiceState) => Promise<T>,
): Promise<T> {
  const stateDir = mkdtempSync(join(tmpdir(), 'svc-ephemeral-'))
  try {
    const plan = {
      stateDir,
      port: 0,
      database: { kind: 'embedded' },
      identity: options.identity,
      authUrl: options.authUrl,
      env: ownEnvironment(options),
      logLevel: 'warn',
      note: options.note,
    } as const
    const running = await startAll(plan, options.signal)
    try {
      return await use(running.state)
    } finally {
      await running.stop()
    }
  } finally {
    removeData(stateDir)
  }
}

const OF_KEYCLOAK = /^SVC_(AUTH_URL|KEYCLOAK_CLIENT_(ID|SECRET))(_FILE)?$/

/**
 * A service for one run is a plain sandbox, whatever the environment says of another, but for the Keycloak that it is to
 * use; it speaks up only for errors.
 */
function ownEnvironment({ env, identity }: { env: NodeJS.ProcessEnv; identity: IdentityKind }): NodeJS.ProcessEnv {
  const kept = Object.entries(env).filter(
    ([name]) => !name.startsWith('SVC_') || (identity === 'keycloak' && OF_KEYCLOAK.test(name)),
  )
  return { ...Object.fromEntries(kept), SVC_LOG_LEVEL: env['SVC_LOG_LEVEL'] || 'error' }
}

const ServerState = z.object({ dataDirectory: z.string() })

/** As root, the database's data lies elsewhere, where the server's own user can go; a file of the directory says where. */
function removeData(stateDir: string): void {
  const file = join(stateDir, 'postgres.json')
  const parsed = existsSync(file) ? ServerState.safeParse(JSON.parse(readFileSync(file, 'utf8'))) : undefined
  if (parsed?.success === true) {
    const { dataDirectory } = parsed.data
    rmSync(dataDirectory.startsWith(stateDir) ? dataDirectory : dirname(dataDirectory), {
      recursive: true,
      force: true,
    })
  }
  rmSync(stateDir, { recursive: true, force: true })
}
