import { getService } from '../../../src/wire/service.ts'
import type { ServiceInfo } from '../../../src/wire/service.ts'
import { call } from '../../client/call.ts'
import type { Client } from '../../client/call.ts'
import type { Given } from '../language.ts'

type Need = NonNullable<Given['needs']>

/** What a story may need of the service that is not there on each, and what is told where it is missing. */
const NEEDS: Readonly<Record<Need, { isMet: (service: ServiceInfo) => boolean; why: string }>> = {
  vrp_caps: {
    isMet: ({ vrp_caps }) => vrp_caps === 'enforce',
    why: 'this service does not hold mandates to their caps: SVC_VRP_CAPS=enforce, or --ephemeral',
  },
}

/** Why the case can't be told on this service, by what the service says of itself; undefined where it can. */
export async function unmetNeed(client: Client, { needs }: Given): Promise<string | undefined> {
  if (needs === undefined) return undefined
  const { isMet, why } = NEEDS[needs]
  const { body } = await call(client, getService, {})
  return isMet(body) ? undefined : why
}
