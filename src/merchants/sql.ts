import type { CommonQueryMethods } from 'slonik'
import { z } from 'zod'
import { sql } from '../db/sql.ts'
import { clientIdsOf } from '../lib/realms.ts'
import { MERCHANT_ROLES } from '../lib/permissions.ts'
import type { MerchantRole } from '../lib/permissions.ts'
import { MerchantClient, MerchantIdentity } from './record.ts'

/** An active client with its merchant. */
export function findMerchantClient(tx: CommonQueryMethods, clientId: string): Promise<MerchantClient | null> {
  return tx.maybeOne(sql.prepared('find_merchant_client', MerchantClient)`
    select c.client_id, c.kind, c.role, c.merchant_id, m.trading_name, m.kyb_status::text as kyb_status, m.is_active,
      m.realm_slug
    from merchant_client c
    join merchants m on m.id = c.merchant_id
    where c.client_id = ${clientId} and c.revoked_at is null
  `)
}

/** The merchant of a server client, whose id is in the merchant's own row. */
export function findMerchantByClientId(tx: CommonQueryMethods, clientId: string): Promise<MerchantIdentity | null> {
  return tx.maybeOne(sql.type(MerchantIdentity)`
    select id, client_id, trading_name from merchants where client_id = ${clientId}
  `)
}

export function findMerchant(tx: CommonQueryMethods, id: string): Promise<MerchantIdentity | null> {
  return tx.maybeOne(sql.type(MerchantIdentity)`
    select id, client_id, trading_name from merchants where id = ${id}
  `)
}

export type NewMerchant = {
  id: string
  clientId: string
  legalName: string
  tradingName: string
  kybStatus: 'PENDING' | 'APPROVED' | 'SUSPENDED'
  /** numeric(5,4): 0.0100 is 1.00 percent. */
  feePercentage: string
  /** numeric(10,2). */
  feeFlat: string
  webhookUrl: string | null
  /** Who holds its payouts from the start; null if they are not held. */
  payoutHeldBy?: string | null
  realmSlug: string
  /** Sealed. */
  webhookSigningSecret: string
  /** The role of its server client; null is payments only (decision 31). */
  serverRole: MerchantRole | null
  /** The creator, recorded with its clients. */
  createdBy: string
}

/** Inserts a merchant with its clients (decision 46); false if a client id or the slug is taken. */
export async function insertMerchant(tx: CommonQueryMethods, merchant: NewMerchant): Promise<boolean> {
  const { portal, cli } = clientIdsOf(merchant.realmSlug)
  const inserted = await tx.query(sql.type(z.object({}))`
    with merchant as (
      insert into merchants (
        id, client_id, legal_name, trading_name, name, kyb_status, fee_percentage, fee_flat, webhook_url, realm_slug,
        webhook_signing_secret, payout_held, payout_held_at, payout_held_by
      )
      values (
        ${merchant.id}, ${merchant.clientId}, ${merchant.legalName}, ${merchant.tradingName}, ${merchant.tradingName},
        ${merchant.kybStatus}::kyb_status, ${merchant.feePercentage}::numeric, ${merchant.feeFlat}::numeric,
        ${merchant.webhookUrl}, ${merchant.realmSlug}, ${merchant.webhookSigningSecret},
        ${merchant.payoutHeldBy != null}, case when ${merchant.payoutHeldBy != null} then now() end, ${merchant.payoutHeldBy ?? null}
      )
      on conflict do nothing
      returning id
    )
    insert into merchant_client (client_id, merchant_id, kind, role, created_by)
    select c.client_id, merchant.id, c.kind, c.role, ${merchant.createdBy}
    from merchant, (
      values (${merchant.clientId}, 'server', ${merchant.serverRole}), (${portal}, 'portal', null), (${cli}, 'cli', null)
    ) as c (client_id, kind, role)
  `)
  return inserted.rowCount > 0
}

const Realm = z.object({ realm_slug: z.string().nullable() })

/** The merchant's realm; null if the merchant does not exist or has none. */
export async function findRealm(tx: CommonQueryMethods, merchantId: string): Promise<string | null> {
  const merchant = await tx.maybeOne(sql.type(Realm)`select realm_slug from merchants where id = ${merchantId}`)
  return merchant?.realm_slug ?? null
}

/** The data to create a merchant's realm again. */
export const MerchantOfRealm = z.object({
  id: z.string(),
  realm_slug: z.string(),
  trading_name: z.string(),
  is_active: z.boolean(),
  /** The role of its server client. */
  server_role: z.enum(MERCHANT_ROLES).nullable(),
})
export type MerchantOfRealm = z.infer<typeof MerchantOfRealm>

export function findMerchantByRealm(tx: CommonQueryMethods, slug: string): Promise<MerchantOfRealm | null> {
  return tx.maybeOne(sql.type(MerchantOfRealm)`
    select m.id, m.realm_slug, m.trading_name, m.is_active, c.role as server_role
    from merchants m
    left join merchant_client c on c.client_id = m.client_id
    where m.realm_slug = ${slug}
  `)
}

export type RealmClients = { merchantId: string; slug: string; serverRole: MerchantRole | null; createdBy: string }

/** Inserts the missing ones of a merchant's three clients. */
export async function insertMissingClients(tx: CommonQueryMethods, clients: RealmClients): Promise<void> {
  const { portal, server, cli } = clientIdsOf(clients.slug)
  await tx.query(sql.type(z.object({}))`
    insert into merchant_client (client_id, merchant_id, kind, role, created_by)
    select c.client_id, ${clients.merchantId}::uuid, c.kind, c.role, ${clients.createdBy}::text
    from (
      values (${server}, 'server', ${clients.serverRole}::text), (${portal}, 'portal', null), (${cli}, 'cli', null)
    ) as c (client_id, kind, role)
    on conflict (client_id) do nothing
  `)
}
