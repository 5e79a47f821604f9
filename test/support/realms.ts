import { randomUUID } from 'node:crypto'
import type { Test } from 'tap'
import { CUSTOMERS_REALM, PLATFORM_REALM, clientIdsOf } from '../../src/lib/realms.ts'
import type { MerchantRole, PlatformRole } from '../../src/lib/permissions.ts'
import type { Operation } from '../../src/wire/operation.ts'
import { testService } from './app.ts'
import type { ServiceOptions, TestMerchant, TestService } from './app.ts'
import { makeInProcessIdp } from './in-process-idp.ts'
import type { InProcessIdp, TokenInput } from './in-process-idp.ts'

export type ServiceWithRealms = {
  service: TestService
  idp: InProcessIdp
  /** Headers of someone who signed in at the merchant's portal. */
  person(merchant: TestMerchant, input?: TokenInput): Record<string, string>
  /** Headers of a new API credential of the merchant; null is one without a role. */
  program(merchant: TestMerchant, role: MerchantRole | null): Promise<Record<string, string>>
  /** Headers of someone who signed in to the platform. */
  operator(input?: TokenInput): Record<string, string>
  /** Headers of a service client of the platform. */
  automation(role: PlatformRole): Promise<Record<string, string>>
}

/** The service with an identity provider in this process that signs whatever a test wants (support/in-process-idp.ts). */
export async function serviceWithRealms(t: Test, options: ServiceOptions = {}): Promise<ServiceWithRealms> {
  const idp = makeInProcessIdp()
  const service = await testService(t, { ...options, overrides: { identity: idp, ...options.overrides } })
  for (const slug of [PLATFORM_REALM, CUSTOMERS_REALM] as const) {
    if (await idp.realmExists(slug)) continue
    await idp.createRealm({ slug, kind: slug, displayName: slug, registrationId: randomUUID(), roles: [] })
  }
  const staff = clientIdsOf(PLATFORM_REALM)
  await service.owner.query(
    `insert into platform_clients (client_id, kind, created_by) values ($1, 'portal', 'test'), ($2, 'cli', 'test')
     on conflict do nothing`,
    [staff.portal, staff.cli],
  )
  const bearer = (slug: string, input: TokenInput): Record<string, string> => ({
    authorization: `Bearer ${idp.mint(slug, input)}`,
  })
  return {
    service,
    idp,
    person: ({ realm }, input) =>
      bearer(realm, { clientId: clientIdsOf(realm).portal, subject: randomUUID(), ...input }),
    program: async ({ id, realm }, role) => {
      const clientId = `${realm}-key-${randomUUID().slice(0, 8)}`
      await service.owner.query(
        `insert into merchant_client (client_id, merchant_id, kind, role, created_by) values ($1, $2, 'credential', $3, 'test')`,
        [clientId, id, role],
      )
      return bearer(realm, { clientId, roles: role === null ? [] : [role] })
    },
    operator: (input) => bearer(PLATFORM_REALM, { clientId: staff.cli, subject: randomUUID(), ...input }),
    automation: async (role) => {
      const clientId = `${PLATFORM_REALM}-key-${randomUUID().slice(0, 8)}`
      await service.owner.query(
        `insert into platform_clients (client_id, kind, role, created_by) values ($1, 'service', $2::platform_role, 'test')`,
        [clientId, role],
      )
      return bearer(PLATFORM_REALM, { clientId, roles: [role] })
    },
  }
}

/** The same with an invalid cursor for a stream, which would not end: authorised callers get a validation error. */
export function endingPath({ path, stream }: Pick<Operation, 'path' | 'stream'>): string {
  return somePath(path) + (stream === undefined ? '' : '?after=wrong')
}

/** The path of an operation with ids in it that nothing has. */
export function somePath(path: string): string {
  return path.replaceAll(/\{\w+\}/g, () => randomUUID())
}
