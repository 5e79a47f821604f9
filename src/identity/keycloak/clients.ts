import { z } from 'zod'
import { ClientExistsError } from '../provider.ts'
import type { ServiceClientSpec } from '../provider.ts'
import { adminPath } from './admin.ts'
import type { Admin } from './admin.ts'
import { serviceClient } from './client-representation.ts'
import { addRoles } from './roles.ts'
import { idFromLocation } from './users.ts'

const Clients = z.array(z.object({ id: z.string(), clientId: z.string() }))
const ServiceAccount = z.object({ id: z.string() })

/** @throws {ClientExistsError} */
export async function createServiceClient(admin: Admin, slug: string, client: ServiceClientSpec): Promise<void> {
  const to = 'create a client'
  const made = await admin.call({
    to,
    method: 'POST',
    path: adminPath(slug, 'clients'),
    body: serviceClient(client),
    acceptedStatuses: [409],
  })
  if (made.status === 409) throw new ClientExistsError(`realm ${slug} already has a client ${client.clientId}`)
  const id = idFromLocation(to, made.location)
  try {
    await giveClientRoles(admin, { slug, id }, client.roles)
  } catch (error) {
    await deleteById(admin, slug, id).catch(() => undefined)
    throw error
  }
}

/** A client's tokens belong to a service account user, which has the roles. */
async function giveClientRoles(
  admin: Admin,
  { slug, id }: { slug: string; id: string },
  roles: readonly string[],
): Promise<void> {
  const path = adminPath(slug, 'clients', id, 'service-account-user')
  const user = await admin.read({ to: 'find the account of a client', path }, ServiceAccount)
  if (user === null) throw new Error(`the client ${id} of realm ${slug} is gone`)
  await addRoles(admin, { slug, userId: user.id }, roles)
}

/** @throws if the client does not exist */
export async function rotateServiceSecret(
  admin: Admin,
  slug: string,
  { clientId, secret }: { clientId: string; secret: string },
): Promise<void> {
  const id = await findClient(admin, slug, clientId)
  if (id === null) throw new Error(`realm ${slug} has no service client ${clientId}`)
  const to = 'replace the secret of a client'
  await admin.call({ to, method: 'PUT', path: adminPath(slug, 'clients', id), body: { clientId, secret } })
}

/** Existing tokens stay valid until they expire; the client gets no new ones. */
export async function deleteClient(admin: Admin, slug: string, clientId: string): Promise<void> {
  const id = await findClient(admin, slug, clientId)
  if (id !== null) await deleteById(admin, slug, id)
}

async function deleteById(admin: Admin, slug: string, id: string): Promise<void> {
  await admin.call({
    to: 'delete a client',
    method: 'DELETE',
    path: adminPath(slug, 'clients', id),
    acceptedStatuses: [404],
  })
}

/** Keycloak's internal id of a client. */
async function findClient(admin: Admin, slug: string, clientId: string): Promise<string | null> {
  const path = `${adminPath(slug, 'clients')}?clientId=${encodeURIComponent(clientId)}`
  const found = await admin.read({ to: 'find a client', path }, Clients)
  return found?.find((client) => client.clientId === clientId)?.id ?? null
}
