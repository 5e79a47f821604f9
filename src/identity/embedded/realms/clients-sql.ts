import type { CommonQueryMethods } from 'slonik'
import { z } from 'zod'
import { sql } from '../../../db/sql.ts'
import { ClientRecord } from '../record.ts'

const Id = z.object({ client_id: z.string() })

export function findClient(tx: CommonQueryMethods, realm: string, clientId: string): Promise<ClientRecord | null> {
  return tx.maybeOne(sql.prepared('find_idp_client', ClientRecord)`
    select client_id, kind, secret_hash, redirect_uris, post_logout_redirect_uris, web_origins,
      follows_configuration, roles
    from idp.clients
    where realm = ${realm} and client_id = ${clientId}
  `)
}

/** @returns whether it was inserted: false if the realm does not exist or the id is taken */
export async function insertClient(tx: CommonQueryMethods, realm: string, client: ClientRecord): Promise<boolean> {
  const inserted = await tx.maybeOne(sql.type(Id)`
    insert into idp.clients (
      realm, client_id, kind, secret_hash, redirect_uris, post_logout_redirect_uris, web_origins,
      follows_configuration, roles
    )
    select r.slug, ${client.client_id}, ${client.kind}, ${client.secret_hash},
      ${sql.array(client.redirect_uris, 'text')}, ${sql.array(client.post_logout_redirect_uris, 'text')},
      ${sql.array(client.web_origins, 'text')}, ${client.follows_configuration},
      ${sql.array(client.roles, 'text')}
    from idp.realms r
    where r.slug = ${realm}
    on conflict (realm, client_id) do nothing
    returning client_id
  `)
  return inserted !== null
}

/** @returns whether the service client exists */
export async function updateSecretHash(
  tx: CommonQueryMethods,
  realm: string,
  client: { clientId: string; secretHash: string },
): Promise<boolean> {
  const updated = await tx.maybeOne(sql.type(Id)`
    update idp.clients
    set secret_hash = ${client.secretHash}
    where realm = ${realm} and client_id = ${client.clientId} and kind = 'service'
    returning client_id
  `)
  return updated !== null
}

export async function deleteClientRow(tx: CommonQueryMethods, realm: string, clientId: string): Promise<void> {
  await tx.query(sql.typeAlias('void')`delete from idp.clients where realm = ${realm} and client_id = ${clientId}`)
}

/**
 * Whether the origin belongs to a client of the realm. `isOwnPortal`: it is the origin of the realm's configured
 * portal.
 */
export async function isKnownOrigin(
  tx: CommonQueryMethods,
  realm: string,
  { origin, isOwnPortal }: { origin: string; isOwnPortal: boolean },
): Promise<boolean> {
  const found = await tx.maybeOne(sql.prepared('is_known_idp_origin', Id)`
    select client_id
    from idp.clients
    where realm = ${realm} and (${origin} = any (web_origins) or (follows_configuration and ${isOwnPortal}))
    limit 1
  `)
  return found !== null
}
