import type { CommonQueryMethods } from 'slonik'
import { z } from 'zod'
import { sql } from '../db/sql.ts'
import { EndpointRecord } from './record.ts'

/** The active address, or the address to resume while paused: at most one of the two is set. */
const Address = z.strictObject({ webhook_url: z.string().nullable(), paused_webhook_url: z.string().nullable() })
export type Address = z.infer<typeof Address>

const addressColumns = sql.fragment`webhook_url, paused_webhook_url`

/** The merchant's endpoint, locked against changes until the transaction ends. */
export function lockEndpointShared(tx: CommonQueryMethods, merchantId: string): Promise<Address | null> {
  return tx.maybeOne(
    sql.type(Address)`select ${addressColumns} from merchants where id = ${merchantId}::uuid for key share`,
  )
}

/** The same, locked exclusively: no delivery of the merchant can be inserted until the transaction ends. */
export function lockEndpoint(tx: CommonQueryMethods, merchantId: string): Promise<Address | null> {
  return tx.maybeOne(
    sql.type(Address)`select ${addressColumns} from merchants where id = ${merchantId}::uuid for update`,
  )
}

/**
 * The same, locked against other transactions that queue many of its deliveries: they are serialised, and each sees the
 * effects of the previous one, while payments continue.
 */
export function lockForQueueing(tx: CommonQueryMethods, merchantId: string): Promise<Address | null> {
  return tx.maybeOne(
    sql.type(Address)`select ${addressColumns} from merchants where id = ${merchantId}::uuid for no key update`,
  )
}

export function findAddress(tx: CommonQueryMethods, merchantId: string): Promise<Address | null> {
  return tx.maybeOne(sql.type(Address)`select ${addressColumns} from merchants where id = ${merchantId}::uuid`)
}

/** The maximum count of DEAD deliveries: above it the exact number makes no difference. */
const DEAD_COUNT_MAX = 10_000

/** The number of recent deliveries checked for a success, which shows that the address is not gone. */
const RECENT_DELIVERIES = 50

/**
 * The endpoint as its merchant sees it. It is gone when the latest failed attempt at this address got a 410 response
 * and nothing was delivered after it: neither that delivery itself, nor one of the most recent ones.
 */
export function findEndpoint(tx: CommonQueryMethods, merchantId: string): Promise<EndpointRecord | null> {
  return tx.maybeOne(sql.type(EndpointRecord)`
    select coalesce(m.webhook_url, m.paused_webhook_url) as webhook_url, m.paused_webhook_url is not null as paused,
      coalesce(
        f.outcome = 'http_410'
          and f.started_at >= m.webhook_url_set_at
          and coalesce(m.webhook_url, m.paused_webhook_url) is not null
          and not exists (
            select from webhook_log d
            where d.merchant_id = m.id and d.id = f.delivery_id and d.delivered_at > f.started_at
          )
          and not exists (
            select
            from (
              select d.delivered_at from webhook_log d
              where d.merchant_id = m.id
              order by d.created_at desc, d.id desc
              limit ${RECENT_DELIVERIES}
            ) newest
            where newest.delivered_at > f.started_at
          ),
        false
      ) as gone,
      (
        select count(*)::int4
        from (
          select from webhook_deliveries d
          where d.merchant_id = m.id and d.status = 'DEAD'
          order by d.created_at, d.id
          limit ${DEAD_COUNT_MAX}
        ) counted
      ) as dead_deliveries
    from merchants m
    left join lateral (
      select a.outcome, a.started_at, a.delivery_id
      from webhook_attempts a
      where a.merchant_id = m.id and a.outcome <> 'delivered'
      order by a.id desc
      limit 1
    ) f on true
    where m.id = ${merchantId}::uuid`)
}

/** Sets both addresses. `webhook_url_set_at` changes with the address, because earlier responses no longer count. */
export async function updateEndpoint(tx: CommonQueryMethods, merchantId: string, address: Address): Promise<void> {
  const { webhook_url: live, paused_webhook_url: paused } = address
  await tx.query(sql.typeAlias('void')`
    update merchants
    set webhook_url = ${live}::text, paused_webhook_url = ${paused}::text, updated_at = now(),
      webhook_url_set_at = case
        when coalesce(webhook_url, paused_webhook_url) is distinct from coalesce(${live}::text, ${paused}::text) then now()
        else webhook_url_set_at
      end
    where id = ${merchantId}::uuid`)
}
