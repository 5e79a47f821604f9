import type { App } from '../../../src/app.ts'
import { listRegistrations } from '../../../src/wire/registration.ts'
import type { ServiceInfo } from '../../../src/wire/service.ts'
import { getService } from '../../../src/wire/service.ts'
import { noCredentials } from '../../client/auth/credentials.ts'
import { call } from '../../client/call.ts'
import type { Context } from '../../kit/context.ts'
import { runningState } from '../../client/find-service.ts'
import { openApp } from '../up/part.ts'
import type { DoctorTarget } from './target.ts'
import { probe } from './probe.ts'
import { within } from './timed.ts'

type Registration = { slug: string; problems: string[] }

/** What is looked over: a service that runs, or one that the environment configures. */
export type Subject = {
  kind: ServiceInfo['identity']
  mode: ServiceInfo['mode']
  /** Where realms are, as configured; null without a provider. */
  authUrl: string | null
  publicUrl: string
  isRunning: boolean
  /** A client whose tokens tell what time it is there; null where none is known. */
  client: { realm: string; clientId: string; clientSecret: string } | null
  /** What is wrong with the provider's health, the service's rights there among it; null where nothing is. */
  health(): Promise<string | null>
  /** Registrations that need a hand. @throws where they can't be read */
  troubled(): Promise<readonly Registration[]>
}

/** A service that runs: what it says of itself, and of its provider. @throws {CliError} where it does not answer */
export async function fromService(
  { context, client }: Pick<DoctorTarget, 'context' | 'client'>,
  apiUrl: string,
): Promise<Subject> {
  const open = { ...context.http(), apiUrl, credentials: noCredentials(), close: () => Promise.resolve() }
  const { body: info } = await call(open, getService, {})
  return {
    kind: info.identity,
    mode: info.mode,
    authUrl: info.auth_url?.replace(/\/+$/, '') ?? null,
    publicUrl: apiUrl,
    isRunning: true,
    client: operatorOf(context, apiUrl),
    health: async () => {
      const ready = await probe(`${apiUrl}/readyz`)
      if (ready.status === undefined) return `the service did not say whether it is well: ${ready.why}`
      return isAway(ready.json) ? 'the service does not reach it, or is not let in: its log tells which' : null
    },
    troubled: async () => {
      const { body } = await call(client(), listRegistrations, {})
      return body.data
    },
  }
}

/** The demo operator of the service in the state directory, where that is the one that is looked over. */
function operatorOf({ stateDir }: Context, apiUrl: string): Subject['client'] {
  const state = runningState(stateDir)
  if (state?.api_url !== apiUrl || state.operator === null) return null
  const { realm, client_id: clientId, client_secret: clientSecret } = state.operator
  return { realm, clientId, clientSecret }
}

function isAway(json: unknown): boolean {
  return typeof json === 'object' && json !== null && 'identity' in json && json.identity === 'away'
}

/** What the environment configures, with the database that it names. @throws {CliError} where that can't be opened */
export async function fromEnvironment<T>(
  env: NodeJS.ProcessEnv,
  runCheck: (subject: Subject) => Promise<T>,
): Promise<T> {
  const opening = openApp({ ...env, SVC_LOG_LEVEL: 'silent' })
  const { app } = await within(opening).catch((error: unknown) => {
    // One that opens after all, when nobody looks at it any more.
    void opening.then((late) => late.app.close()).catch(() => undefined)
    throw error
  })
  try {
    return await runCheck(subjectOf(app))
  } finally {
    await within(app.close(), CLOSING_MS).catch(() => undefined)
  }
}

const CLOSING_MS = 1_500

function subjectOf(app: App): Subject {
  const { identity, config, publicUrl } = app
  return {
    kind: identity.kind,
    mode: config.mode,
    authUrl: identity.authUrl,
    publicUrl,
    isRunning: false,
    client: config.keycloak === undefined ? null : { realm: 'master', ...config.keycloak },
    health: () =>
      identity.health().then(
        () => null,
        (error: unknown) => (error instanceof Error ? error.message : String(error)),
      ),
    troubled: async () => {
      const { listRegistrations: list } = await import('../../../src/registrations/list-registrations.ts')
      const { registrations } = await list(app)
      return registrations.map(({ registration, problems }) => ({ slug: registration.slug, problems }))
    },
  }
}
