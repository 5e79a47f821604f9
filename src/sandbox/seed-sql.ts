import type { CommonQueryMethods } from 'slonik'
import { z } from 'zod'
import { sql } from '../db/sql.ts'

/** Moves the demo endpoint to the service's current address; an address that a person has set is left alone. */
export async function moveDemoEndpoint(
  tx: CommonQueryMethods,
  { merchantId, url }: { merchantId: string; url: string },
): Promise<void> {
  await tx.query(sql.type(z.object({}))`
    update merchants
    set webhook_url = ${url}, updated_at = now()
    where id = ${merchantId} and webhook_url like ${`%/dev/webhook-receiver/${merchantId}`} and webhook_url <> ${url}
  `)
}

/** Sets the realm of a merchant from before realms existed. */
export async function setDemoRealm(
  tx: CommonQueryMethods,
  { merchantId, slug }: { merchantId: string; slug: string },
): Promise<void> {
  await tx.query(sql.type(z.object({}))`
    update merchants set realm_slug = ${slug}, updated_at = now() where id = ${merchantId}
  `)
}

/** Deactivates other users with the demo administrator's address: users of earlier realms. */
export async function deactivateOtherAdmins(
  tx: CommonQueryMethods,
  admin: { merchantId: string; userId: string; email: string },
): Promise<void> {
  await tx.query(sql.type(z.object({}))`
    update team_members
    set is_active = false, updated_at = now()
    where merchant_id = ${admin.merchantId} and email = ${admin.email} and id <> ${admin.userId} and is_active
  `)
}

/** Adds the demo administrator to the team, or activates it again. */
export async function putDemoAdmin(
  tx: CommonQueryMethods,
  admin: { merchantId: string; userId: string; email: string; invitedBy: string },
): Promise<void> {
  await tx.query(sql.type(z.object({}))`
    insert into team_members (merchant_id, id, email, role, invited_by)
    values (${admin.merchantId}, ${admin.userId}, ${admin.email}, 'ADMIN', ${admin.invitedBy})
    on conflict (merchant_id, id) do update set role = 'ADMIN', is_active = true, updated_at = now()
  `)
}

/** Reverts the revocation of a client. */
export async function restoreDemoClient(tx: CommonQueryMethods, clientId: string): Promise<void> {
  await tx.query(sql.type(z.object({}))`
    update merchant_client set revoked_at = null where client_id = ${clientId} and revoked_at is not null
  `)
}
