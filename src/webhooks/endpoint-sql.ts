import type { QuerySqlToken } from 'slonik'
import { z } from 'zod'
import { sql } from '../db/sql.ts'
import { EndpointRecord } from './record.ts'

type Query<T extends z.ZodType> = QuerySqlToken<T>

/** Where deliveries go, and where they go again once they are resumed: one of the two at most. */
const Address = z.strictObject({ webhook_url: z.string().nullable(), paused_webhook_url: z.string().nullable() })
export type Address = z.infer<typeof Address>

const addressColumns = sql.fragment`webhook_url, paused_webhook_url`

/** The merchant's endpoint, which stays as it is until the transaction ends. */
export function holdEndpoint(merchantId: string): Query<typeof Address> {
  return sql.type(Address)`select ${addressColumns} from merchants where id = ${merchantId}::uuid for key share`
}

/** The same, locked against everything that refers to the merchant: no delivery is inserted until the transaction ends. */
export function lockEndpoint(merchantId: string): Query<typeof Address> {
  return sql.type(Address)`select ${addressColumns} from merchants where id = ${merchantId}::uuid for update`
}

/**
 * The same, held against others that queue many of its deliveries: they come one after the other, each sees what the one
 * before did, and payments go on meanwhile.
 */
export function holdForQueueing(merchantId: string): Query<typeof Address> {
  return sql.type(Address)`select ${addressColumns} from merchants where id = ${merchantId}::uuid for no key update`
}

export function findAddress(merchantId: string): Query<typeof Address> {
  return sql.type(Address)`select ${addressColumns} from merchants where id = ${merchantId}::uuid`
}

/** How many DEAD deliveries are counted at most: beyond it, how many they are changes nothing any more. */
const DEAD_COUNT_MAX = 10_000

/** A delivery since then shows that the address is none that is gone. */
const RECENT_DELIVERIES = 50

/**
 * The endpoint as its merchant sees it. It is gone when the newest attempt that failed at this address was answered 410
 * and nothing was delivered after it: neither that delivery itself, nor one of the last ones.
 */
export function findEndpoint(merchantId: string): Query<typeof EndpointRecord> {
  return sql.type(EndpointRecord)`
    select coalesce(m.webhook_url, m.paused_webhook_url) as webhook_url, m.paused_webhook_url is not null as paused,
      coalesce(
        f.outcome = 'http_410'
          and f.started_at >= m.webhook_url_set_at
          and coalesce(m.webhook_url, m.paused_webhook_url) is not null
          and not exists (
            select from webhook_deliveries d
            where d.merchant_id = m.id and d.id = f.delivery_id and d.delivered_at > f.started_at
          )
          and not exists (
            select
            from (
              select d.delivered_at from webhook_deliveries d
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
          where d.merchant_id = m.id and d.last_error is not null and d.status = 'DEAD'
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
    where m.id = ${merchantId}::uuid`
}

/** Sets both; what an endpoint answered before its address changed says nothing of it any more. */
export function updateEndpoint(merchantId: string, address: Address) {
  const { webhook_url: live, paused_webhook_url: paused } = address
  return sql.typeAlias('void')`
    update merchants
    set webhook_url = ${live}::text, paused_webhook_url = ${paused}::text, updated_at = now(),
      webhook_url_set_at = case
        when coalesce(webhook_url, paused_webhook_url) is distinct from coalesce(${live}::text, ${paused}::text) then now()
        else webhook_url_set_at
      end
    where id = ${merchantId}::uuid`
}
