import type { CommonQueryMethods } from 'slonik'
import { z } from 'zod'
import { sql } from '../db/sql.ts'
import { MerchantIdentity, MerchantWebhookSecret } from './record.ts'

export function findMerchantByClientId(db: CommonQueryMethods, clientId: string): Promise<MerchantIdentity | null> {
  return db.maybeOne(sql.prepared('find_merchant_by_client_id', MerchantIdentity)`
    select id, client_id, trading_name from merchants where client_id = ${clientId}
  `)
}

export function findMerchant(db: CommonQueryMethods, id: string): Promise<MerchantIdentity | null> {
  return db.maybeOne(sql.type(MerchantIdentity)`
    select id, client_id, trading_name from merchants where id = ${id}
  `)
}

/** The sealed signing secret of a merchant; `merchants/webhook-secret.ts` opens it. */
export function findWebhookSecret(db: CommonQueryMethods, merchantId: string): Promise<MerchantWebhookSecret | null> {
  return db.maybeOne(sql.type(MerchantWebhookSecret)`
    select id, webhook_signing_secret from merchants where id = ${merchantId}
  `)
}

/** Any sealed signing secret, to try a key on; null while there is no merchant. */
export function findAnyWebhookSecret(db: CommonQueryMethods): Promise<MerchantWebhookSecret | null> {
  return db.maybeOne(sql.type(MerchantWebhookSecret)`
    select id, webhook_signing_secret from merchants order by id limit 1
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
  /** Who holds its payouts from the start; null for nobody. */
  payoutHeldBy?: string | null
  realmSlug: string
  /** Sealed. */
  webhookSigningSecret: string
}

/** Adds a merchant; nothing where its client id or slug is taken. */
export async function insertMerchant(db: CommonQueryMethods, merchant: NewMerchant): Promise<boolean> {
  const inserted = await db.query(sql.type(z.object({}))`
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
  `)
  return inserted.rowCount === 1
}

/** The demo receiver follows the service to its new port; an address that a person has set is left alone. */
export async function moveDemoEndpoint(
  db: CommonQueryMethods,
  { merchantId, url }: { merchantId: string; url: string },
): Promise<void> {
  await db.query(sql.type(z.object({}))`
    update merchants
    set webhook_url = ${url}, updated_at = now()
    where id = ${merchantId} and webhook_url like ${`%/dev/webhook-receiver/${merchantId}`} and webhook_url <> ${url}
  `)
}
