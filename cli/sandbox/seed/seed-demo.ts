import { seedSandbox } from '../../../src/wire/sandbox-bank.ts'
import { messageOf } from '../../base/errors.ts'
import { headerCredentials, serviceCredentials } from '../../client/auth/credentials.ts'
import type { Credentials } from '../../client/auth/credentials.ts'
import { call, makeClient } from '../../client/call.ts'
import type { ServiceState } from '../../client/service-state.ts'
import { seedTrade, withNextSeed } from './seed-trade.ts'
import type { TradeSize } from './seed-trade.ts'

/** What `svc up --seed demo` fills a sandbox with; a second time it finds it there. */
export const DEMO_TRADE = { seed: 1, merchants: 3, payments: 200 } as const satisfies TradeSize

/** Filling the bank has its time. */
const REQUEST_MS = 180_000

/**
 * Fills a service that has just started with customers of its bank and with merchants that trade. The service runs
 * whatever comes of it, so a failure is only reported.
 */
export async function seedDemo(
  state: Pick<ServiceState, 'api_url' | 'auth_url' | 'merchant' | 'operator'>,
  note: (line: string) => void,
  size: TradeSize = DEMO_TRADE,
): Promise<void> {
  const credentials = credentialsOf(state)
  const client = makeClient({ apiUrl: state.api_url, credentials, timeoutMs: REQUEST_MS })
  try {
    note('Seeding: customers, merchants and their payments.')
    await call(client, seedSandbox, { body: {} })
    const { already_there: isThere, payments, disputes, settlements } = await seedTrade(client, size, () => undefined)
    note(
      isThere
        ? 'The demo is there already.'
        : `Seeded ${payments} payments, ${disputes} disputes and ${settlements} settlements.`,
    )
  } catch (error) {
    const why = messageOf(error)
    // What a failure left half made keeps its number.
    note(`The demo could not be seeded: ${why}. Everything else runs. To try again: ${withNextSeed(size)}`)
  } finally {
    await client.close()
  }
}

/** The demo merchant and the demo operator: whatever the environment says, this is their service. */
function credentialsOf({
  auth_url: authUrl,
  merchant,
  operator,
}: Pick<ServiceState, 'auth_url' | 'merchant' | 'operator'>): Credentials {
  const { realm, client_id: clientId, client_secret: clientSecret } = merchant
  if (authUrl === null || clientSecret === null || operator === null)
    return headerCredentials({ clientId, platformUser: 'demo' })
  return serviceCredentials({
    authUrl,
    merchant: { realm, clientId, clientSecret },
    platform: { realm: operator.realm, clientId: operator.client_id, clientSecret: operator.client_secret },
  })
}
