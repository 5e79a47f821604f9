import { chooseCredentials } from '../../client/auth/choose.ts'
import { makeClient } from '../../client/call.ts'
import type { Client } from '../../client/call.ts'
import { operatorClient } from '../commands/run-service.ts'
import { timeoutOf } from '../../kit/context.ts'
import { platformUser } from '../../client/operator-name.ts'
import { CliError } from '../../base/errors.ts'
import { findService } from '../../client/find-service.ts'
import type { FoundService } from '../../client/find-service.ts'
import { systemIo } from '../../base/io.ts'
import { withEphemeralService } from '../play/ephemeral.ts'
import type { ServiceState } from '../../client/service-state.ts'
import type { IdentityKind } from '../../service/up/plan.ts'
import { onStopSignals } from '../../base/signals.ts'

export type ServiceOptions = {
  /** Whether a service is started for this test alone; where nothing is said, when none runs here. */
  ephemeral?: boolean | undefined
  /** The service, and where svc up keeps its data: as flags and environment of svc name them where nothing is said. */
  apiUrl?: string | undefined
  stateDir?: string | undefined
  /** Where there is no identity provider, the operator's name. */
  operator?: string | undefined
  /** What ids and chance of a service of its own follow from. */
  seed?: string | undefined
  /** Who proves identities in a service of its own: real tokens where nothing is said. */
  idp?: IdentityKind | undefined
}

export type OpenService = {
  /** Acts as an operator. */
  client: Client
  isEphemeral: boolean
  close(): Promise<void>
}

/**
 * Finds the running service, as the commands of svc do, or starts one that is gone after close().
 * @throws {CliError} where a service is named that does not run
 */
export async function openService(options: ServiceOptions): Promise<OpenService> {
  const { ephemeral, apiUrl, stateDir } = options
  if (ephemeral === true) return startOwn(options)
  const io = systemIo()
  const flags = { apiUrl, stateDir }
  const where = { flags, env: io.env, cwd: io.cwd }
  const isNamed = ephemeral === false || apiUrl !== undefined || stateDir !== undefined
  const found = findOr(where, isNamed)
  if (found === undefined) return startOwn(options)
  const credentials = chooseCredentials({ ...where, found, platformUser: platformUser(io, options.operator) })
  const client = makeClient({ apiUrl: found.apiUrl, credentials, timeoutMs: timeoutOf(io) })
  return { client, isEphemeral: false, close: () => client.close() }
}

function findOr(where: Parameters<typeof findService>[0], isNamed: boolean): FoundService | undefined {
  try {
    return findService(where)
  } catch (error) {
    if (!isNamed && error instanceof CliError && error.code === 'NOT_RUNNING') return undefined
    throw error
  }
}

async function startOwn({ seed, idp = 'embedded', operator }: ServiceOptions): Promise<OpenService> {
  const io = systemIo()
  const user = platformUser(io, operator)
  const over = new AbortController()
  const started = Promise.withResolvers<ServiceState>()
  const closing = Promise.withResolvers<void>()
  const plan = { env: io.env, identity: idp, authUrl: undefined, seed, note: () => undefined, signal: over.signal }
  const ended = withEphemeralService(plan, async (state) => {
    started.resolve(state)
    await closing.promise
  })
  ended.catch(started.reject)
  const release = onStopSignals((signal) => {
    over.abort(signal)
    closing.resolve()
    void ended.catch(() => undefined).then(() => endAsAsked(release, signal))
  })
  void ended.then(release, release)
  const client = operatorClient(await started.promise, user)
  return {
    client,
    isEphemeral: true,
    async close() {
      await client.close()
      closing.resolve()
      await ended
    },
  }
}

/** With nothing of ours in its way, the signal does what it would have done: it ends the process, or others handle it. */
function endAsAsked(release: () => void, signal: NodeJS.Signals): void {
  release()
  process.kill(process.pid, signal)
}
