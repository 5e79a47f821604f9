import type { App } from '../../../src/app.ts'
import type { Config } from '../../../src/config/config.ts'
import { getOverview } from '../../../src/wire/console.ts'
import { listRegistrations } from '../../../src/wire/registration.ts'
import { getService } from '../../../src/wire/service.ts'
import type { ServiceInfo } from '../../../src/wire/service.ts'
import { listOutbox } from '../../../src/wire/webhooks.ts'
import { noCredentials } from '../../client/auth/credentials.ts'
import { call } from '../../client/call.ts'
import type { Client } from '../../client/call.ts'
import { runningState } from '../../client/find-service.ts'
import type { Context } from '../../kit/context.ts'
import { probe } from '../probe.ts'

type Registration = { slug: string; problems: string[] }
type DeadDelivery = { realm_slug: string | null; merchant_id: string; last_http_status: number | null }

/** What a service says of itself: over HTTP where it runs, by its own code where the environment configures one. */
export type Subject = {
  identity: ServiceInfo['identity']
  mode: Config['mode']
  /** Where realms are, as configured; null without a provider. */
  authUrl: string | null
  publicUrl: string
  isRunning: boolean
  /** A client whose tokens tell the provider's clock; null where none is known. */
  client: { realm: string; clientId: string; clientSecret: string } | null
  /** What is wrong with the provider's health, the service's rights there among it; null where nothing is. */
  identityProblem(): Promise<string | null>
  /** How long the oldest job that is due has waited. */
  workerLagMs(): Promise<number>
  /** The newest DEAD deliveries of all merchants. */
  deadDeliveries(): Promise<readonly DeadDelivery[]>
  /** Registrations with their problems. */
  registrations(): Promise<readonly Registration[]>
}

const DEAD = { status: 'DEAD', limit: 100 } as const

/** @throws {CliError} where it does not answer */
export async function subjectOverHttp(context: Context, apiUrl: string, client: () => Client): Promise<Subject> {
  const open = { ...context.http(), apiUrl, credentials: noCredentials(), close: () => Promise.resolve() }
  const { body: info } = await call(open, getService, {})
  return {
    identity: info.identity,
    mode: info.mode,
    authUrl: info.auth_url?.replace(/\/+$/, '') ?? null,
    publicUrl: apiUrl,
    isRunning: true,
    client: demoOperator(context, apiUrl),
    identityProblem: async () => {
      const ready = await probe(`${apiUrl}/readyz`)
      if (ready.status === undefined) return `the service did not report its health: ${ready.why}`
      return isAway(ready.json) ? 'the service does not reach it, or is not let in: its log says which' : null
    },
    workerLagMs: async () => (await call(client(), getOverview, {})).body.worker.lag_ms,
    deadDeliveries: async () => (await call(client(), listOutbox, { query: DEAD })).body.data,
    registrations: async () => (await call(client(), listRegistrations, {})).body.data,
  }
}

/** Of the service in the state directory, where that is the one. */
function demoOperator({ stateDir }: Context, apiUrl: string): Subject['client'] {
  const state = runningState(stateDir)
  if (state?.api_url !== apiUrl || state.operator === null) return null
  const { realm, client_id: clientId, client_secret: clientSecret } = state.operator
  return { realm, clientId, clientSecret }
}

function isAway(json: unknown): boolean {
  return typeof json === 'object' && json !== null && 'identity' in json && json.identity === 'away'
}

export function subjectInProcess(app: App): Subject {
  const { identity, config, publicUrl } = app
  return {
    identity: identity.kind,
    mode: config.mode,
    authUrl: identity.authUrl,
    publicUrl,
    isRunning: false,
    client: config.keycloak === undefined ? null : { realm: 'master', ...config.keycloak },
    identityProblem: () =>
      identity.health().then(
        () => null,
        (error: unknown) => (error instanceof Error ? error.message : String(error)),
      ),
    workerLagMs: async () => {
      const { getOverview: read } = await import('../../../src/console/get-overview.ts')
      return (await read(app, { merchantId: undefined })).worker.lag_ms
    },
    deadDeliveries: async () => {
      const { listOutbox: list } = await import('../../../src/webhooks/list-outbox.ts')
      return (await list(app, DEAD)).deliveries
    },
    registrations: async () => {
      const { listRegistrations: list } = await import('../../../src/registrations/list-registrations.ts')
      const { registrations } = await list(app)
      return registrations.map(({ registration, problems }) => ({ slug: registration.slug, problems }))
    },
  }
}
