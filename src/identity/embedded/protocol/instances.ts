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

/** A realm's protocol library, made from one version of its row. It remembers nothing of any request. */
export type RealmInstance = {
  realm: RealmRecord
  provider: Provider
  answer(req: IncomingMessage, res: ServerResponse): Promise<void>
}

/** Some 50 KB each; a realm that is not among the latest costs its next request half a millisecond. */
const INSTANCES_MAX = 200

/** Gives the instance for a realm as its row is now. */
export function makeInstances(parts: EmbeddedParts): (realm: RealmRecord) => RealmInstance {
  // In the order of their last use, which is that of a map whose entries are put back each time.
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
  // `handle.ts` has made the headers of proxies what they have to be.
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

/** Of a client's secret only the hash is kept, which the library knows as the secret itself. */
function compareHashedSecrets(provider: Provider): void {
  Object.defineProperty(provider.Client.prototype, 'compareClientSecret', {
    value(this: { clientSecret?: string }, given: string): boolean {
      return this.clientSecret !== undefined && isSecretOf(given, this.clientSecret)
    },
  })
}
