import { z } from 'zod'
import { adminPath, makeAdmin, parse } from '../../src/identity/keycloak/admin.ts'
import type { Bootstrap } from './keycloak-server.ts'

const Id = z.object({ id: z.string() })
const Role = z.object({ id: z.string(), name: z.string() })

/**
 * Makes the client that the service works under, as examples/keycloak tells operators to: its one right is to create
 * realms, from which follow those of the realms that it has made.
 */
export async function addProvisioner(
  authUrl: string,
  bootstrap: Bootstrap,
  { clientId, clientSecret }: { clientId: string; clientSecret: string },
): Promise<void> {
  const to = 'set up'
  const admin = makeAdmin({
    authUrl,
    ...bootstrap,
    sslRequired: 'none',
    secondFactorRoles: new Set(),
    smtpUrl: undefined,
    mailFrom: '',
  })
  const { location = '' } = await admin.call({
    to,
    method: 'POST',
    path: adminPath('master', 'clients'),
    body: {
      clientId,
      secret: clientSecret,
      publicClient: false,
      serviceAccountsEnabled: true,
      standardFlowEnabled: false,
      directAccessGrantsEnabled: false,
      // Without it the token names each right of each realm, and grows past what a header may hold.
      attributes: { 'client.use.lightweight.access.token.enabled': 'true' },
    },
  })
  const client = adminPath('master', 'clients', location.split('/').at(-1) ?? '')
  const { text } = await admin.call({ to, method: 'GET', path: `${client}/service-account-user` })
  const user = parse(to, text, Id)
  const role = await admin.read({ to, path: adminPath('master', 'roles', 'create-realm') }, Role)
  const path = adminPath('master', 'users', user.id, 'role-mappings', 'realm')
  await admin.call({ to, method: 'POST', path, body: [role] })
}
