import type { CommonQueryMethods, FragmentSqlToken } from 'slonik'
import { z } from 'zod'
import { sql } from '../db/sql.ts'
import { Explanation } from '../wire/explain.ts'

/** How many of a merchant's newest actions are read. */
export const ACTIONS_READ_MAX = 500

/** The record that an id names, and the merchant that owns it. */
const Subject = Explanation.pick({ kind: true, id: true, merchant_id: true })
export type Subject = z.infer<typeof Subject>

/** Where a merchant's webhooks go: to an address, to one that is paused, or to none. */
export const Endpoint = z.enum(['set', 'paused', 'none'])
export type Endpoint = z.infer<typeof Endpoint>

/** Why a delivery waits without a time for its next attempt. */
export const Held = z.enum(['paused', 'none', 'too old']).nullable()
export type Held = z.infer<typeof Held>

/** Makes the transaction one read: every statement after it sees the same moment, and none of them can write. */
export async function beginRead(tx: CommonQueryMethods): Promise<void> {
  await tx.query(sql.typeAlias('void')`set transaction isolation level repeatable read read only`)
}

/**
 * The subject that a UUID or a name belongs to: the end-to-end id of a bank statement, or the event id of a receiver's
 * log. `merchantId` is the only merchant whose records there are; null for an operator, who sees all.
 *
 * Deliveries and refunds have no index by their id alone: each merchant is asked, one probe of the primary key for each.
 * The limit inside keeps the planner from turning that into a scan of all rows.
 */
export function findSubject(
  tx: CommonQueryMethods,
  { merchantId, uuid, name }: { merchantId: string | null; uuid: string | null; name: string | null },
): Promise<Subject | null> {
  return tx.maybeOne(sql.type(Subject)`
    with found as (
      select 'payment' as kind, id, merchant_id from payment_intents where id = ${uuid}
      union all
      select 'payment', id, merchant_id from payment_intents where end_to_end_id = ${name}
      union all
      select 'delivery', id, merchant_id from webhook_deliveries where event_id = ${name}
      union all
      select 'dispute', id, merchant_id from disputes where id = ${uuid}
      union all
      select 'settlement', id, merchant_id from settlements where id = ${uuid}
      union all
      select 'payout', id, merchant_id from payouts where id = ${uuid}
      union all
      select 'payout', id, merchant_id from payouts where end_to_end_id = ${name}
      union all
      select 'merchant', id, id from merchants where id = ${uuid}
      union all
      select own.kind, own.id, m.id
      from merchants m
      cross join lateral (
        (select 'delivery' as kind, id from webhook_deliveries where merchant_id = m.id and id = ${uuid} limit 1)
        union all
        (select 'payment', payment_intent_id from payment_refunds where merchant_id = m.id and id = ${uuid} limit 1)
      ) own
      where ${uuid}::uuid is not null
    )
    select kind, id, merchant_id from found where merchant_id = coalesce(${merchantId}::uuid, merchant_id) limit 1
  `)
}

/** Of the merchant `m`. */
export const endpoint = sql.fragment`
  case when m.paused_webhook_url is not null then 'paused' when m.webhook_url is null then 'none' else 'set' end
`

/** Of a delivery `d` of the merchant `m`, with its row `q` of the queue. */
export const isLeased = sql.fragment`
  (
    coalesce(q.due_at <= now(), false)
    and exists (select from webhook_lanes l where l.merchant_id = d.merchant_id and l.locked_until > now())
  )
`
export const isTest = sql.fragment`
  d.payment_intent_id is null and d.event_type not like 'consent.%' and d.event_type not like 'payout.%'
    and coalesce(d.payload #>> '{data,test}' = 'true', false)
`
export const held = sql.fragment`
  case
    when d.status not in ('PENDING', 'FAILED') or ${isLeased} then null
    when m.paused_webhook_url is not null then 'paused'
    when m.webhook_url is null then 'none'
    when d.next_retry_at = 'infinity' then 'too old'
  end
`

/** The settlements that the subject's money is in: its own, those of its lines, or those that the payout pays. */
export function settlementsOf({ kind, id, merchant_id: merchantId }: Subject): FragmentSqlToken {
  if (kind === 'settlement') return sql.fragment`s.merchant_id = ${merchantId} and s.id = ${id}`
  if (kind === 'payout') return sql.fragment`s.merchant_id = ${merchantId} and s.payout_id = ${id}`
  return sql.fragment`
    s.merchant_id = ${merchantId} and s.id in (
      select l.settlement_id
      from ledger_entries e
      join settlement_lines l on l.merchant_id = e.merchant_id and l.ordinal = e.ordinal
      where e.merchant_id = ${merchantId} and (
        e.subject_id = ${id} or e.subject_id in (
          select r.id from payment_refunds r where r.merchant_id = ${merchantId} and r.payment_intent_id = ${id}
        )
      )
    )`
}

/** Which of a merchant's webhooks are the payment's, are about the dispute or the payout, or are the delivery itself. */
export function isWebhookOf({ kind, id, merchant_id: merchantId }: Subject): FragmentSqlToken {
  if (kind === 'delivery') return sql.fragment`id = ${id}`
  if (kind === 'payment') return sql.fragment`payment_intent_id = ${id}`
  // They are queued in the transactions of its moves, and so have their times.
  if (kind === 'payout')
    return sql.fragment`
      event_type like 'payout.%' and payload #>> '{data,id}' = ${id} and created_at in (
        select created_at from payout_events where merchant_id = ${merchantId} and payout_id = ${id}
      )`
  return sql.fragment`
    event_type like 'dispute.%' and payload #>> '{data,id}' = ${id} and payment_intent_id = (
      select payment_intent_id from disputes where merchant_id = ${merchantId} and id = ${id}
    )`
}
