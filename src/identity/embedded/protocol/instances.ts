import type { IncomingMessage, ServerResponse } from 'node:http'
import { Provider } from 'oidc-provider'
import { issuerOf } from '../../../lib/realms.ts'
import { isSecretOf } from '../realms/clients.ts'
import { configurationOf } from './configuration.ts'
import type { EmbeddedParts } from '../parts.ts'
import { logEvents } from './log-events.ts'
import type { RealmRecord } from '../record.ts'
import { protectConcurrentSessions } from './concurrent-sessions.ts'
import { useResponseMiddleware } from './response-middleware.ts'

/** The protocol library for one version of a realm's row. It keeps no state between requests. */
export type RealmInstance = {
  realm: RealmRecord
  provider: Provider
  answer(req: IncomingMessage, res: ServerResponse): Promise<void>
}

/** About 50 KB each. Recreating an evicted instance takes half a millisecond. */
const INSTANCES_MAX = 200

/** Returns the instance for the realm's current row. */
export function makeInstances(parts: EmbeddedParts): (realm: RealmRecord) => RealmInstance {
  // In the order of last use: each access moves the entry to the end of the map.
  const instances = new Map<string, RealmInstance>()
  return (realm) => {
    const known = instances.get(realm.slug)
    const instance = known?.realm.version === realm.version ? known : makeInstance(parts, realm)
    instances.delete(realm.slug)
    instances.set(realm.slug, instance)
    const [oldest] = instances.keys()
    if (instances.size > INSTANCES_MAX && oldest !== undefined) instances.delete(oldest)
    return instance
  }
}

function makeInstance(parts: EmbeddedParts, realm: RealmRecord): RealmInstance {
  const provider = new Provider(issuerOf(parts.publicUrl, realm.slug), configurationOf(parts, realm))
  // `handle.ts` has set the proxy headers.
  provider.proxy = true
  provider.maxIpsCount = 1
  compareHashedSecrets(provider)
  protectConcurrentSessions(parts, realm, provider)
  logEvents(parts, realm, provider)
  useResponseMiddleware(parts, realm, provider)
  const callback = provider.callback()
  return {
    realm,
    provider,
    answer: async (req, res) => {
      await callback(req, res)
    },
  }
}

/** Only the hash of a client's secret is stored, and the library gets it as the secret. */
function compareHashedSecrets(provider: Provider): void {
  Object.defineProperty(provider.Client.prototype, 'compareClientSecret', {
    value(this: { clientSecret?: string }, given: string): boolean {
      return this.clientSecret !== undefined && isSecretOf(given, this.clientSecret)
    },
  })
}
