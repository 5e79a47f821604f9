import type { CommonQueryMethods } from 'slonik'
import { z } from 'zod'
import { oldestLateWebhook } from '../db/late-webhooks-sql.ts'
import { sql } from '../db/sql.ts'

/** Something that an operator should look at. The name is that of its section in docs/operators/runbook.md. */
export type FoundAlert = { name: string; subject: string; detail: string }

export type Channel = 'WEBHOOK' | 'MAIL'

export const AlertMessage = z.object({
  id: z.bigint(),
  name: z.string(),
  subject: z.string(),
  is_firing: z.boolean(),
  detail: z.string(),
  since: z.string(),
  attempt_count: z.int(),
})
export type AlertMessage = z.infer<typeof AlertMessage>

/** Keeps what was found, and queues a message to each channel about what had not been found before. */
export async function keepFound(
  tx: CommonQueryMethods,
  { found, channels }: { found: readonly FoundAlert[]; channels: readonly Channel[] },
): Promise<void> {
  const rows = found.map(({ name, subject, detail }) => [name, subject, detail])
  await tx.query(sql.typeAlias('void')`
    with kept as (
      insert into operator_alerts as a (name, subject, detail, is_firing)
      select name, subject, detail, true
      from ${sql.unnest(rows, ['text', 'text', 'text'])} as f (name, subject, detail)
      order by name, subject
      on conflict (name, subject) do update
      set seen_at = now(), detail = excluded.detail, is_firing = true,
        since = case when a.is_firing then a.since else now() end
      returning name, subject, detail, since
    )
    insert into operator_alert_messages (channel, name, subject, is_firing, detail, since)
    select channel, name, subject, true, detail, since
    from kept, unnest(${sql.array([...channels], 'text')}) as channel
    where since = now()
  `)
}

/** Keeps the alerts of these names that are firing as if they had been found. */
export async function keepFiring(tx: CommonQueryMethods, names: readonly string[]): Promise<void> {
  await tx.query(sql.typeAlias('void')`
    update operator_alerts set seen_at = now() where is_firing and name = any(${sql.array([...names], 'text')})
  `)
}

/** Ends what no worker has found for so long, and queues a message about each to each channel. */
export async function endUnseen(
  tx: CommonQueryMethods,
  { channels, quietMs }: { channels: readonly Channel[]; quietMs: number },
): Promise<void> {
  await tx.query(sql.typeAlias('void')`
    with ended as (
      update operator_alerts set is_firing = false, since = now()
      where is_firing and seen_at < now() - ${quietMs} * interval '1 millisecond'
      returning name, subject, detail, since
    )
    insert into operator_alert_messages (channel, name, subject, is_firing, detail, since)
    select channel, name, subject, false, detail, since
    from ended, unnest(${sql.array([...channels], 'text')}) as channel
  `)
}

/**
 * Claims the oldest message of a channel that is due for `leaseMs`; null where there is none. Messages about one thing are
 * sent in order, so that an end is never reported before its beginning; those about other things do not wait for them.
 */
export function claimMessage(
  tx: CommonQueryMethods,
  { channel, leaseMs }: { channel: Channel; leaseMs: number },
): Promise<AlertMessage | null> {
  return tx.maybeOne(sql.type(AlertMessage)`
    update operator_alert_messages
    set due_at = now() + ${leaseMs} * interval '1 millisecond', attempt_count = attempt_count + 1
    where id = (
      select m.id from operator_alert_messages m
      where m.channel = ${channel} and m.due_at <= now() and not exists (
        select from operator_alert_messages earlier
        where earlier.channel = m.channel and earlier.name = m.name and earlier.subject = m.subject and earlier.id < m.id
      )
      order by m.id
      limit 1
      for update skip locked
    )
    returning id, name, subject, is_firing, detail, since, attempt_count
  `)
}

export async function deleteMessage(tx: CommonQueryMethods, id: bigint): Promise<void> {
  await tx.query(sql.typeAlias('void')`delete from operator_alert_messages where id = ${id}`)
}

export async function delayMessage(
  tx: CommonQueryMethods,
  { id, delayMs }: { id: bigint; delayMs: number },
): Promise<void> {
  await tx.query(sql.typeAlias('void')`
    update operator_alert_messages set due_at = now() + ${delayMs} * interval '1 millisecond' where id = ${id}
  `)
}

/**
 * Since how many hours a daily run has not succeeded. An installation that has none yet counts from its first attempt, or
 * from its first merchant: before that there is nothing to look at.
 */
export function hoursWithoutRun(tx: CommonQueryMethods, run: 'verification' | 'reconciliation'): Promise<number> {
  const last =
    run === 'verification'
      ? sql.fragment`(select max(finished_at) from verifications where violations is not null and started_at <= now()), (select min(started_at) from verifications where started_at <= now())`
      : sql.fragment`(select max(finished_at) from reconciliations where status in ('BALANCED', 'DIFFERENT') and started_at <= now()), (select min(started_at) from reconciliations where started_at <= now())`
  return tx.oneFirst(sql.type(z.object({ hours: z.int() }))`
    select coalesce(
      floor(extract(epoch from now() - coalesce(${last}, (select min(created_at) from merchants))) / 3600), 0
    )::int as hours
  `)
}

/** Since how many seconds the oldest webhook is due that no worker has in hand; 0 where none is. */
export function measureLateness(tx: CommonQueryMethods): Promise<number> {
  return tx.oneFirst(sql.type(z.object({ seconds: z.int() }))`
    select greatest(0, coalesce(extract(epoch from now() - (${oldestLateWebhook})), 0))::int as seconds
  `)
}

const DeadEndpoint = z.object({ merchant_id: z.string(), trading_name: z.string(), count: z.bigint() })

/** Upper limit of the deaths of a merchant that are read: this is asked every 30 seconds, also in a long outage. */
export const DEATHS_MAX = 1_000

/**
 * Merchants with deliveries that are no longer tried, and whose last attempt was within a day: at most `limit`, each with the
 * count of the newest of them. However many one merchant has, those of others are found.
 */
export function listDeadEndpoints(
  tx: CommonQueryMethods,
  limit: number,
): Promise<readonly z.infer<typeof DeadEndpoint>[]> {
  return tx.any(sql.type(DeadEndpoint)`
    with recursive merchant (id) as (
      -- By the whole order of the index of DEAD deliveries, so that it is the one that is read.
      (select merchant_id from webhook_deliveries where status = 'DEAD' order by merchant_id, created_at, id limit 1)
      union all
      select (
        select d.merchant_id from webhook_deliveries d
        where d.status = 'DEAD' and d.merchant_id > m.id
        order by d.merchant_id, d.created_at, d.id
        limit 1
      )
      from merchant m
      where m.id is not null
    )
    select m.id as merchant_id, m.trading_name, dead.count
    from merchant
    join merchants m using (id)
    cross join lateral (
      select count(distinct d.id) as count
      from (
        select delivery_id from webhook_attempts
        where merchant_id = merchant.id and attempt = 6 and outcome <> 'delivered' and started_at > now() - interval '24 hours'
        order by started_at desc
        limit ${DEATHS_MAX}
      ) as last
      join webhook_deliveries d on d.merchant_id = merchant.id and d.id = last.delivery_id and d.status = 'DEAD'
    ) dead
    where dead.count > 0
    limit ${limit}
  `)
}
