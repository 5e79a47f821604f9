import { asTyped } from '../../base/command-hints.ts'
import { headerCredentials, serviceCredentials } from '../../client/auth/credentials.ts'
import { makeClient } from '../../client/call.ts'
import type { Client } from '../../client/call.ts'
import { platformUser } from '../../client/operator-name.ts'
import type { Context } from '../../kit/context.ts'
import { withEphemeralService } from '../play/ephemeral.ts'
import type { ServiceState } from '../../client/service-state.ts'
import type { IdentityKind } from '../../service/up/plan.ts'

export type ServiceOptions = {
  /** Whether a service is started for this run alone. */
  ephemeral: boolean
  /** Whether its data stays. */
  keep: boolean
  seed: string | undefined
  identity: IdentityKind | undefined
  authUrl: string | undefined
  signal: AbortSignal
}

/** How long a request to the service of this run may take. */
const REQUEST_TIMEOUT_MS = 15_000

export async function withService<T>(
  context: Context,
  { ephemeral, ...options }: ServiceOptions,
  use: (client: Client) => Promise<T>,
): Promise<T> {
  if (!ephemeral) return use(context.client())
  const { io } = context
  const user = platformUser(io)
  const { identity = 'embedded' } = options
  const report = (line: string): void => void io.stderr.write(`${asTyped(line, io.calledAs)}\n`)
  if (io.stderr.isTTY) report('starting a service…')
  const service = { ...options, identity, env: io.env, note: () => undefined, report }
  return withEphemeralService(service, async (state) => {
    const client = operatorClient(state, user)
    try {
      return await use(client)
    } finally {
      await client.close()
    }
  })
}

/**
 * A client of a service that acts as its operator, by the client that it was made with, or where names are enough by
 * this one.
 */
export function operatorClient(
  { api_url: apiUrl, auth_url: issuers, operator }: Pick<ServiceState, 'api_url' | 'auth_url' | 'operator'>,
  platformUser: string,
): Client {
  const credentials =
    issuers === null || operator === null
      ? headerCredentials({ clientId: undefined, platformUser })
      : serviceCredentials({
          authUrl: issuers,
          platform: {
            realm: operator.realm,
            clientId: operator.client_id,
            clientSecret: operator.client_secret,
          },
        })
  return makeClient({ apiUrl, credentials, timeoutMs: REQUEST_TIMEOUT_MS })
}
